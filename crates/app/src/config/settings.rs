//! The settings in force as typed values: those of each room that a crawl is made of, and the binary's own.

use std::net::SocketAddr;
use std::path::PathBuf;

use vernal_model::{Span, Url};
use vernal_policy::parameters::PolicySpec;

use super::alerts;
use super::listener::Access;
use super::policies;
use super::resolve::InForce;
use super::setting::Setting;
use crate::error::{Error, Result};
use crate::log::LogFormat;

/// Each field is written by the entry of the catalogue that names it. What follows from several settings together is
/// made in [`crate::runtime::parts`].
#[derive(Clone, Debug)]
pub struct Settings {
    pub crawler: vernal_crawler::Settings,
    pub fetch: vernal_fetch::Settings,
    pub repository: vernal_repository::Settings,
    pub data: PathBuf,
    pub log_format: LogFormat,
    pub seeds: Option<String>,
    /// Parameters of policies, whichever is used.
    pub parameters: Vec<PolicySpec>,
    pub topics: Topics,
    /// Whether the text index is followed while the crawl runs.
    pub search: bool,
    pub alerts: AlertSettings,
    pub indexnow_keys: Vec<String>,
    pub websub_secret: Option<String>,
    pub websub_callback: Option<Url>,
    pub keep_versions: Option<u32>,
    pub keep_for: Option<Span>,
    pub listen: SocketAddr,
    pub access: Access,
    pub time_scale: f64,
}

/// Where alerts may go, and what they lead to.
#[derive(Clone, Debug, Default)]
pub struct AlertSettings {
    /// Also to this machine and to private networks.
    pub allow_private: bool,
    /// Routes to programs of the operator.
    pub programs: Vec<vernal_watch::Route>,
    /// Other routes, and watches, with the places that name them.
    pub routes: Vec<vernal_watch::Route>,
    pub routes_from: String,
    pub watches: Vec<vernal_watch::Watch>,
    pub watches_from: String,
    /// The address under which people reach the API.
    pub public_url: Option<String>,
}

/// When topics are computed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Topics {
    /// Daily, where the policy samples by them.
    Auto,
    Off,
    Every(Span),
}

impl AlertSettings {
    /// Notes where watches and routes stand. A route to a program is kept nowhere else.
    fn take_places(&mut self, in_force: &InForce) {
        let place = |name| in_force.given(name).map_or_else(String::new, |given| given.source.to_string());
        (self.routes_from, self.watches_from) = (place(alerts::ROUTES), place(alerts::WATCHES));
        let (programs, others) =
            std::mem::take(&mut self.routes).into_iter().partition(vernal_watch::Route::is_command);
        self.routes = others;
        self.programs.extend::<Vec<_>>(programs);
    }

    /// What the log of the alerts is to agree with.
    pub fn wanted(&self) -> vernal_watch::OfSettings {
        vernal_watch::OfSettings {
            watches: self.watches.clone(),
            watches_from: self.watches_from.clone(),
            routes: self.routes.clone(),
            routes_from: self.routes_from.clone(),
        }
    }
}

impl Settings {
    /// A text that is no value of its setting is refused, named by the place it came from.
    pub fn read(in_force: &InForce) -> Result<Settings> {
        let mut settings = Settings::unset();
        for given in &in_force.all {
            if given.values.is_empty() && is_required(given.setting) {
                return Err(empty(given.setting));
            }
            given
                .setting
                .apply(&mut settings, &given.values)
                .map_err(|what| Error::Usage(format!("{}: {what}", given.place())))?;
        }
        settings.take_parameters(in_force)?;
        settings.alerts.take_places(in_force);
        if settings.websub_callback.is_some() && settings.websub_secret.is_none() {
            let line = "websub-callback needs websub-secret: what hubs send must be signed";
            return Err(Error::Usage(line.into()));
        }
        settings.access.tls().map_err(Error::Usage)?;
        Ok(settings)
    }

    /// Puts what `parameters` gives for the policy beside its name.
    fn take_parameters(&mut self, in_force: &InForce) -> Result<()> {
        let place = || in_force.given("policy").map_or_else(String::new, |given| given.place());
        self.crawler.policy = policies::with_parameters(&self.crawler.policy, &self.parameters)
            .map_err(|what| Error::Usage(format!("{}: {what}", place())))?;
        Ok(())
    }

    /// What stands before the catalogue's defaults and everything given are written over it.
    fn unset() -> Settings {
        Settings {
            crawler: vernal_crawler::Settings::default(),
            fetch: vernal_fetch::Settings::default(),
            repository: vernal_repository::Settings::default(),
            data: PathBuf::new(),
            log_format: LogFormat::default(),
            seeds: None,
            parameters: Vec::new(),
            topics: Topics::Auto,
            search: true,
            alerts: AlertSettings::default(),
            indexnow_keys: Vec::new(),
            websub_secret: None,
            websub_callback: None,
            keep_versions: None,
            keep_for: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            access: Access::default(),
            time_scale: 1.0,
        }
    }

    /// Paths of the API that ask for a key or a signature of their own instead of the token.
    pub fn keyed_paths(&self) -> Vec<&'static str> {
        let indexnow = (!self.indexnow_keys.is_empty()).then_some("/indexnow");
        let websub = self.websub_secret.is_some().then_some("/websub");
        indexnow.into_iter().chain(websub).collect()
    }
}

/// What has a default must have a value; an empty variable gives none.
fn is_required(setting: &Setting) -> bool {
    !setting.default.is_empty()
}

fn empty(setting: &Setting) -> Error {
    Error::Usage(format!("the setting {} is empty", setting.name))
}

#[cfg(test)]
mod tests {
    use vernal_crawler::Requisites;
    use vernal_model::{Kind, Kinds, Site};

    use super::*;
    use crate::config::{Flags, resolve};

    fn with(name: &str, value: &str) -> Result<Settings> {
        let mut flags = Flags::default();
        flags.push(name, value.into());
        Settings::read(&resolve(&flags, &[], Some(std::path::Path::new("/dev/null")))?)
    }

    #[test]
    fn every_default_is_a_value_of_its_setting() {
        assert_eq!(with("delay", "1s").unwrap().fetch.body_bytes_max, 8 << 20);
    }

    #[test]
    fn kinds_that_count_are_a_list_and_content_unless_somebody_says_otherwise() {
        let counts = |value: &str| with("counts", value).unwrap().crawler.counts;
        assert_eq!(with("delay", "1s").unwrap().crawler.counts, Kinds::of(&[Kind::Content]));
        assert_eq!(counts("structure, behaviour"), Kinds::of(&[Kind::Structure, Kind::Behaviour]));
        assert_eq!(counts("any"), Kinds::of(&Kind::ALL));
        assert_eq!(with("counts", "colour").unwrap_err().exit_code(), 2);
        let strict = with("strict-sites", "a.example").unwrap().crawler;
        assert!(strict.is_strict(&Site::new("a.example")) && !strict.is_strict(&Site::new("b.example")));
    }

    #[test]
    fn requisites_are_fetched_only_where_somebody_asks_for_them() {
        assert_eq!(with("delay", "1s").unwrap().crawler.requisites, Requisites::None);
        assert_eq!(with("requisites", "site").unwrap().crawler.requisites, Requisites::Site);
    }

    #[test]
    fn parameters_of_the_policy_that_is_used_stand_beside_its_name() {
        let mut flags = Flags::default();
        flags.push("policy", "hybrid:p=5%".into());
        flags.push("parameters", "hybrid:v=4,p=0.2".into());
        flags.push("parameters", "adaptive:kappa=7".into());
        let read =
            |flags: &Flags| Settings::read(&resolve(flags, &[], Some(std::path::Path::new("/dev/null"))).unwrap());
        assert_eq!(read(&flags).unwrap().crawler.policy, "hybrid:v=4,p=0.05");
        flags.push("parameters", "hybrid:v=0".into());
        let told = read(&flags).unwrap_err();
        assert_eq!(
            (told.exit_code(), told.line()),
            (2, Some("--parameters: hybrid: v = 0: must be 1 to 100, the default is 5, the paper names none"))
        );
        let told = with("policy", "hybrid:v=0").unwrap_err();
        assert!(told.exit_code() == 2 && told.line().unwrap().starts_with("--policy: hybrid: v = 0: must be 1 to 100"));
    }

    #[test]
    fn what_is_no_value_is_refused_by_its_place() {
        let told = with("budget", "5000").unwrap_err();
        assert_eq!(told.exit_code(), 2);
        assert!(told.line().unwrap().starts_with("--budget: `5000` is not a budget"));
        for (name, value) in [
            ("delay", "7"),
            ("listen", "here"),
            ("time-scale", "-1"),
            ("contact", "a\r\nb"),
            ("per-site", "0"),
            ("importance", "much"),
            ("requisites", "all"),
            ("websub-callback", "here"),
            ("cors-origin", "*"),
            ("api-rate", "0"),
            ("tls-cert", "chain.pem"),
            ("websub-callback", "https://crawl.example/websub"),
        ] {
            assert!(with(name, value).is_err(), "{name} {value}");
        }
    }
}

//! The hosts table of a crawl: where to connect for some hosts, in place of what the resolver would say.
//!
//! An entry is written as curl's `--resolve` writes it, HOST:PORT:ADDRESS. The address may have a port of its own, so that
//! `http://garden.example/` can be served on any free port. The guard judges these addresses like all others.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The entries in the order in which they were given. A host with several has several addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(pub Vec<HostEntry>);

/// For URLs with this host and port, connect here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostEntry {
    pub host: Box<str>,
    pub port: u16,
    pub target: SocketAddr,
}

impl Hosts {
    /// The addresses of a host, as a URL spells it; empty if the table does not name it.
    pub fn targets(&self, host: &str, port: u16) -> Vec<SocketAddr> {
        let named = self.0.iter().filter(|entry| entry.port == port && entry.host.eq_ignore_ascii_case(host));
        named.map(|entry| entry.target).collect()
    }
}

impl FromStr for HostEntry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no entry of a hosts table: give HOST:PORT:ADDRESS, such as garden.example:80:127.0.0.1:8500"
            )
        };
        let (host, rest) = text.split_once(':').ok_or_else(wrong)?;
        let (port, address) = rest.split_once(':').ok_or_else(wrong)?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
        if host.is_empty() || !host.chars().all(is_name) {
            return Err(wrong());
        }
        let port: u16 = port.parse().map_err(|_| wrong())?;
        let bare = address.strip_prefix('[').and_then(|address| address.strip_suffix(']')).unwrap_or(address);
        let target = match bare.parse::<IpAddr>() {
            Ok(address) => SocketAddr::new(address, port),
            Err(_) => address.parse().map_err(|_| wrong())?,
        };
        Ok(HostEntry { host: host.into(), port, target })
    }
}

impl fmt::Display for HostEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.host, self.port, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_host_a_port_and_an_address_that_may_have_a_port_of_its_own() {
        let target = |text: &str| text.parse::<HostEntry>().map(|entry| entry.target.to_string());
        assert_eq!(target("garden.example:80:127.0.0.1").unwrap(), "127.0.0.1:80");
        assert_eq!(target("garden.example:80:127.0.1.1:8500").unwrap(), "127.0.1.1:8500");
        assert_eq!(target("garden.example:443:::1").unwrap(), "[::1]:443");
        assert_eq!(target("garden.example:443:[::1]").unwrap(), "[::1]:443");
        assert_eq!(target("garden.example:443:[::1]:8443").unwrap(), "[::1]:8443");
        for wrong in ["", "garden.example", "a:80", "a:80:", ":80:127.0.0.1", "a:x:127.0.0.1", "a:80:b", "a b:80:::1"] {
            assert!(target(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_host_has_the_addresses_of_its_own_port_alone() {
        let entries = ["a.example:80:127.0.0.1", "a.example:80:127.0.0.2", "a.example:81:127.0.0.3"];
        let hosts = Hosts(entries.iter().map(|entry| entry.parse().unwrap()).collect());
        assert_eq!(hosts.targets("A.example", 80).len(), 2);
        assert_eq!(hosts.targets("a.example", 81)[0].to_string(), "127.0.0.3:81");
        assert!(hosts.targets("b.example", 80).is_empty() && hosts.targets("a.example", 82).is_empty());
        let again: HostEntry = hosts.0[1].to_string().parse().unwrap();
        assert_eq!(again, hosts.0[1], "an entry is written as it is read");
    }
}

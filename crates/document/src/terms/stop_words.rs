//! Stop words: the function words of the main languages of the web, and words that every site has. Words of one or two letters
//! are ignored anyway (see `words`) and are not listed.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The languages whose stop words apply to one page.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Languages(u32);

/// Words of the web itself, whatever the language.
const WEB: u32 = 1;
const ALL: u32 = u32::MAX;

impl Languages {
    /// Selects the languages by the tag of the page (`de-AT`): all where there is no tag or an unknown one. English is always
    /// included, because its words are everywhere.
    pub fn of(tag: &str) -> Languages {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        let place = LISTS.iter().position(|(language, _)| language.eq_ignore_ascii_case(primary));
        match place {
            Some(place) => Languages(WEB | bit(0) | bit(place)),
            None => Languages(ALL),
        }
    }

    pub fn stop(self, word: &str) -> bool {
        lists().get(word).is_some_and(|languages| languages & self.0 != 0)
    }
}

fn bit(place: usize) -> u32 {
    2 << place
}

fn lists() -> &'static HashMap<&'static str, u32> {
    static WORDS: OnceLock<HashMap<&'static str, u32>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words = HashMap::new();
        for word in OF_THE_WEB.split_ascii_whitespace() {
            *words.entry(word).or_default() |= WEB;
        }
        for (place, (_, list)) in LISTS.iter().enumerate() {
            for word in list.split_ascii_whitespace() {
                *words.entry(word).or_default() |= bit(place);
            }
        }
        words
    })
}

const OF_THE_WEB: &str = "www http https html htm php com org net index home page pages site website web menu login logout \
    sign search click here read more next previous prev back top skip content cookie cookies privacy policy terms copyright \
    rights reserved contact about share email mail facebook twitter instagram youtube linkedin rss javascript browser loading \
    download print follow subscribe newsletter sitemap help faq jpg png gif pdf utm ref src img href div span nbsp amp";

/// The first is English (see `Languages::of`).
const LISTS: [(&str, &str); 16] = [
    (
        "en",
        "the and for are but not you all any can had her was one our out has him his how its may new now old see two who did \
        get got let put say she too use that with this have from they will would there their what which when make like time just \
        know take into your some could them than then other only come over also after first well even want because these give \
        most been were being does doing don during each few further here hers himself itself more must myself nor off once own \
        same should shall such theirs themselves those through under until upon very was we're where while whom why yours about \
        above again against before below between both down every many much said says still since without within per via using used \
        etc may might cannot ever never always often however therefore thus although though another among across around along",
    ),
    (
        "de",
        "der die das den dem des ein eine einer eines einem einen und oder aber nicht mit von vom für auf aus bei bis durch \
        gegen ohne über unter vor nach zum zur ist sind war waren wird werden wurde wurden hat haben hatte kann können muss müssen \
        soll sollen will wollen darf dass wenn als auch noch nur schon sehr mehr wie was wer wir ihr sie ich mich dich sich uns euch \
        ihm ihn ihre ihren sein seine seiner seinen mein meine dein deine unser unsere kein keine man diese dieser dieses diesem \
        diesen jede jeder jedes alle allen alles andere hier dort dann denn doch weil damit dabei dazu sowie zwischen seit beim",
    ),
    (
        "fr",
        "les des une est pas que qui dans pour par sur avec sans sous plus moins très mais donc car comme tout tous toute toutes \
        cette ces cet son ses leur leurs notre nos votre vos mon mes ton tes elle elles ils nous vous lui eux moi toi soi été être \
        avoir fait faire ont sont était étaient sera seront peut peuvent doit aux entre vers chez dont où quand aussi bien encore \
        même autre autres après avant depuis pendant ainsi alors afin ici cela ceci celui celle ceux celles non oui lors puis",
    ),
    (
        "es",
        "los las una unos unas del que con por para sin sobre entre hasta desde como más pero muy también cuando donde quien \
        este esta estos estas ese esa esos esas aquel aquella ser estar son era fue han hay tiene tienen puede pueden hacer sus \
        nos les mis tus nuestro nuestra todo toda todos todas otro otra otros otras cada según durante contra antes después \
        porque aunque así sólo solo aquí allí ella ellos ellas usted ustedes nosotros cual cuales algo nada mismo misma",
    ),
    (
        "pt",
        "uma uns umas dos das nos nas pelo pela pelos pelas com por para sem sobre entre até desde como mais mas muito também \
        quando onde quem este esta estes estas esse essa esses essas aquele aquela ser estar são era foi foram tem têm pode podem \
        fazer seu sua seus suas meu minha nosso nossa todo toda todos todas outro outra outros outras cada segundo durante contra \
        antes depois porque embora assim apenas aqui ali ela eles elas você vocês qual quais algo nada mesmo mesma não que está",
    ),
    (
        "it",
        "gli una uno dei del della delle degli dello nel nella nelle negli con per senza sopra sotto tra fra come più meno molto \
        anche quando dove chi questo questa questi queste quello quella quelli quelle essere sono era erano stato stata stati hanno \
        avere può possono fare suo sua suoi sue loro mio mia nostro nostra vostro tutto tutta tutti tutte altro altra altri altre \
        ogni secondo durante contro prima dopo perché così solo qui lei lui noi voi che non alla alle agli dal dalla dai sul sulla",
    ),
    (
        "nl",
        "het een van voor met naar door over onder tussen tegen zonder bij uit aan als ook maar niet wel nog meer zeer hoe wat \
        wie waar wanneer dit dat deze die zijn was waren wordt worden werd heeft hebben had kan kunnen moet moeten zal zullen wil \
        haar hem hun ons onze jij jouw mijn uw alle alles andere elke ieder hier daar dan want omdat sinds tijdens naar toe der den",
    ),
    (
        "sv",
        "och att det som för med den inte till har när var från eller men ett kan ska skall vara blir blev hade över under mellan \
        utan efter innan också mer mycket hur vad vem där här detta dessa denna sin sitt sina han hon dem oss vår våra din ditt alla \
        allt andra varje mot hos vid sedan genom enligt bara redan",
    ),
    (
        "da",
        "og at det som for med den ikke til har når var fra eller men kan skal være bliver blev havde over under mellem uden efter \
        før også mere meget hvordan hvad hvem hvor her dette disse denne sin sit sine han hun dem os vores din dit alle alt andre \
        hver mod hos ved siden gennem ifølge kun allerede der jeg",
    ),
    (
        "no",
        "og at det som for med den ikke til har når var fra eller men kan skal være blir ble hadde over under mellom uten etter \
        før også mer mye hvordan hva hvem hvor her dette disse denne sin sitt sine han hun dem oss vår våre din ditt alle alt andre \
        hver mot hos ved siden gjennom ifølge bare allerede jeg ikkje",
    ),
    (
        "fi",
        "että joka jotka kun niin kuin mutta myös tai sekä ovat oli olivat ollut olla voi voivat tämä tämän tässä nämä sen siitä \
        siihen hän hänen heidän meidän teidän minun sinun kaikki kanssa jos vain vielä enemmän hyvin miten mitä missä koska ennen \
        jälkeen noin ilman mukaan",
    ),
    (
        "pl",
        "nie jest się que oraz lub ale jak jako tak też dla przez przed przy pod nad bez czy aby żeby gdy gdzie kto który która \
        które których tym tego tej ten być był była było były będzie może można mają jego jej ich nasz nasze wasz wszystko wszystkie \
        inne każdy tylko już jeszcze bardzo więcej między podczas według oraz przy",
    ),
    (
        "ru",
        "что как это для или его она они был была было были быть есть при над под без через между после перед также только уже ещё \
        все всё всех этот эта эти этого этой тот который которая которые которых чтобы если когда где кто мне меня нас вас нам вам \
        наш ваш свой своя более менее очень может могут можно нет так там тут чем уже из-за себя сам",
    ),
    (
        "tr",
        "bir için ile veya ama değil olan olarak gibi daha çok kadar sonra önce bütün tüm her hiç şey bunu bunun onun onlar biz siz \
        ben sen var yok ise hem nasıl neden nerede kim hangi olduğu tarafından göre üzerinde",
    ),
    (
        "cs",
        "jako pro nebo ale není jsou byl byla bylo byli být může mohou který která které kteří jejich jeho její této tento tato toto \
        což když kde kdo jak tak také ještě více velmi mezi přes před pod nad bez podle během všechny každý pouze již aby",
    ),
    (
        "id",
        "yang dan dengan untuk dari pada adalah ini itu tidak akan juga atau oleh dalam sebagai karena saat lebih telah dapat bisa \
        kami kita mereka anda ada para secara seperti tersebut namun hanya sudah masih antara setelah sebelum",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_word_is_one_in_its_language_and_in_none() {
        assert!(Languages::of("de").stop("und") && Languages::of("").stop("und") && Languages::of("xx").stop("und"));
        assert!(!Languages::of("en").stop("und"));
        // English stop words and words of the web apply everywhere.
        assert!(Languages::of("fr-CA").stop("the") && Languages::of("fr").stop("cookies"));
        assert!(!Languages::of("").stop("roses"));
    }

    #[test]
    fn every_list_is_in_lower_case() {
        for word in lists().keys() {
            assert_eq!(*word, word.to_lowercase());
        }
    }
}

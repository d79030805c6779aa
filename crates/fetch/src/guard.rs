//! Which addresses may be dialled. Private addresses never are, unless the settings allow it.
//!
//! The rules deny by default and follow the IANA special-purpose registries. An IPv6 form that carries an IPv4 address is
//! judged by that address, so that no spelling of a denied address is allowed. The check is made right before the dial and
//! on the address that is dialled, so that a name which changes its answer in between (DNS rebinding) gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What `allow_private` allows: this machine and the networks of RFC 1918 and RFC 4193, and nothing else.
const PRIVATE_V4: [(Ipv4Addr, u8, &str); 4] = [
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
];

const SHUT_V4: [(Ipv4Addr, u8, &str); 14] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this network"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "carrier-grade NAT"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "metadata"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local and metadata"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignments"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "AS112"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "AMT relays"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relays"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved and broadcast"),
];

/// Denied although they lie in 2000::/3. Everything outside 2000::/3 is denied without being listed.
const SHUT_V6: [(Ipv6Addr, u8, &str); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "protocol assignments (Teredo, ORCHID)"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48, "AS112"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

/// The networks of cloud metadata services. They lie in a range that `allow_private` allows and are denied all the same.
const METADATA_V6: [(Ipv6Addr, u8, &str); 3] = [
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0, 0), 32, "metadata"),
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32, "metadata"),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0), 32, "metadata"),
];

/// Whether this address may be dialled. The error names the address and the rule that denies it.
pub fn check(address: IpAddr, allow_private: bool) -> Result<(), String> {
    let rule = match address {
        IpAddr::V4(address) => shut_v4(address, allow_private),
        IpAddr::V6(address) => shut_v6(address, allow_private),
    };
    match rule {
        Some(rule) => Err(format!("{address} is {rule}")),
        None => Ok(()),
    }
}

/// Whether this address may be asked for an order that a public page led to.
pub fn check_led_to(address: IpAddr, public_only: bool) -> Result<(), String> {
    match check(address, !public_only) {
        Err(why) if public_only => Err(format!("{why}, and a public page leads to it")),
        _ => Ok(()),
    }
}

/// The rules and our own listeners, for whole socket addresses.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    pub allow_private: bool,
    pub own_listeners: Vec<SocketAddr>,
}

impl Guard {
    pub fn check(&self, target: SocketAddr) -> Result<(), String> {
        check(target.ip(), self.allow_private)?;
        let address = target.ip().to_canonical();
        let own = self.own_listeners.iter().any(|own| {
            // A listener on the unspecified address listens on every address of this machine. Which addresses those are
            // is not known here, so its port is denied on every address that is not global. `check_dialled` catches the rest.
            let heard = own.ip().to_canonical() == address || (own.ip().is_unspecified() && !is_global(address));
            own.port() == target.port() && heard
        });
        if own { Err(format!("{target} is our own listener")) } else { Ok(()) }
    }

    /// The last check, made on the open connection: with the same address on both ends it leads to ourselves.
    pub fn check_dialled(&self, local: SocketAddr, peer: SocketAddr) -> Result<(), String> {
        let to_ourselves = local.ip().to_canonical() == peer.ip().to_canonical();
        let heard = |own: &SocketAddr| own.port() == peer.port() && own.ip().is_unspecified();
        if to_ourselves && self.own_listeners.iter().any(heard) {
            return Err(format!("{peer} is our own listener"));
        }
        Ok(())
    }
}

/// The address in the host of a URL: an IPv4 address, or an IPv6 address in brackets.
pub fn literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inner) => inner.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    }
}

fn is_global(address: IpAddr) -> bool {
    check(address, false).is_ok()
}

fn shut_v4(address: Ipv4Addr, allow_private: bool) -> Option<&'static str> {
    let within = |rows: &[(Ipv4Addr, u8, &'static str)]| {
        let hit = |(base, bits, _): &&(Ipv4Addr, u8, &str)| (address.to_bits() ^ base.to_bits()) >> (32 - bits) == 0;
        rows.iter().find(hit).map(|row| row.2)
    };
    within(&SHUT_V4).or_else(|| if allow_private { None } else { within(&PRIVATE_V4) })
}

fn shut_v6(address: Ipv6Addr, allow_private: bool) -> Option<&'static str> {
    if address.is_unspecified() {
        return Some("unspecified");
    }
    if address.is_loopback() {
        return (!allow_private).then_some("loopback");
    }
    let parts = address.segments();
    if let [0, 0, 0, 0, 0, 0xffff, high, low] = parts {
        return shut_v4(inner_v4(high, low), allow_private);
    }
    // Compatible, translated and tunnelled forms must not lead to a private network: the inner address is judged as if
    // `allow_private` were off, and obsolete forms are denied altogether.
    if let [0, 0, 0, 0, 0, 0, ..] = parts {
        return Some("an IPv4-compatible address");
    }
    if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = parts {
        return shut_v4(inner_v4(high, low), false);
    }
    if let [0x64, 0xff9b, 1, ..] = parts {
        return Some("a local NAT64 address");
    }
    if let [0x2002, high, low, ..] = parts {
        return shut_v4(inner_v4(high, low), false);
    }
    let within = |rows: &[(Ipv6Addr, u8, &'static str)]| {
        let hit = |(base, bits, _): &&(Ipv6Addr, u8, &str)| (address.to_bits() ^ base.to_bits()) >> (128 - bits) == 0;
        rows.iter().find(hit).map(|row| row.2)
    };
    if parts[0] & 0xfe00 == 0xfc00 {
        return within(&METADATA_V6).or_else(|| (!allow_private).then_some("private"));
    }
    if parts[0] & 0xe000 != 0x2000 {
        return Some(outside_global_unicast(parts[0]));
    }
    within(&SHUT_V6)
}

fn inner_v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

fn outside_global_unicast(first: u16) -> &'static str {
    match first {
        0x0100 => "discard-only",
        0x5f00 => "segment routing",
        first if first & 0xffc0 == 0xfe80 => "link-local",
        first if first & 0xffc0 == 0xfec0 => "site-local",
        first if first & 0xff00 == 0xff00 => "multicast",
        _ => "not global unicast",
    }
}

/// The bad ports of the Fetch standard. Services on them could take an HTTP request for commands of their own protocol,
/// so a link must not make us connect to them.
const SHUT_PORTS: [u16; 82] = [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
    111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
    540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
    6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Whether this scheme may be used on this port.
pub fn check_port(scheme: &str, port: u16) -> Result<(), String> {
    let is_own = scheme == "ftp" && port == 21;
    if port == 0 || (SHUT_PORTS.contains(&port) && !is_own) {
        return Err(format!("port {port} belongs to another service"));
    }
    Ok(())
}

/// Whether a data connection of FTP may lead to this port. The server names it, and may name another service's.
pub fn check_data_port(port: u16) -> Result<(), String> {
    check_port("ftp data", port)
}

/// Ports of mail servers among those that belong to services; above them any may be one.
const MAIL_PORTS: [u16; 3] = [25, 465, 587];

/// Whether a mail may be handed over at this port.
pub fn check_mail_port(port: u16) -> Result<(), String> {
    match MAIL_PORTS.contains(&port) || port >= 1024 && !SHUT_PORTS.contains(&port) {
        true => Ok(()),
        false => Err(format!("port {port} is none of a mail server")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_names_no_port_of_another_service_for_its_data() {
        for port in [0, 21, 22, 25, 6667] {
            assert!(check_data_port(port).is_err(), "{port}");
        }
        for port in [20_000, 1_025, 65_535] {
            assert!(check_data_port(port).is_ok(), "{port}");
        }
    }

    #[test]
    fn mails_go_to_ports_of_mail_servers_alone() {
        for port in [25, 465, 587, 2525, 18_025] {
            assert!(check_mail_port(port).is_ok(), "{port}");
        }
        for port in [0, 22, 80, 443, 6667] {
            assert!(check_mail_port(port).is_err(), "{port}");
        }
    }

    #[test]
    fn ports_of_other_services_are_shut() {
        assert!(SHUT_PORTS.is_sorted());
        for (scheme, port) in [("http", 25), ("https", 22), ("gopher", 25), ("http", 6667), ("http", 21), ("http", 0)] {
            assert!(check_port(scheme, port).is_err(), "{scheme} {port}");
        }
        for (scheme, port) in
            [("http", 80), ("https", 443), ("ftp", 21), ("gopher", 70), ("http", 8080), ("http", 18500)]
        {
            assert!(check_port(scheme, port).is_ok(), "{scheme} {port}");
        }
    }
    use vernal_model::Url;

    fn judged(host: &str, allow_private: bool) -> Result<(), String> {
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        let address = literal(url.host()).unwrap_or_else(|| panic!("{host} is a literal, became {}", url.host()));
        check(address, allow_private)
    }

    /// Denied whatever the settings allow.
    const ALWAYS_SHUT: &[&str] = &[
        "0.0.0.0",
        "0",
        "0.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "100.127.255.255",
        "169.254.0.1",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "0251.0376.0251.0376",
        "169.254.43518",
        "168.63.129.16",
        "192.0.0.1",
        "192.0.0.192",
        "192.0.2.1",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "0xffffffff",
        "[::]",
        "[0:0:0:0:0:0:0:0]",
        "[::ffff:0.0.0.0]",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[::ffff:100.100.100.200]",
        "[::ffff:224.0.0.1]",
        "[::127.0.0.1]",
        "[::8.8.8.8]",
        "[::2]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::10.0.0.1]",
        "[64:ff9b::169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::1]",
        "[64:ff9b:1:ffff::8.8.8.8]",
        "[64:ff9b:2::1]",
        "[100::1]",
        "[100:0:0:1::1]",
        "[2001::1]",
        "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        "[2001:2::1]",
        "[2001:10::1]",
        "[2001:20::1]",
        "[2001:1ff::1]",
        "[2001:db8::1]",
        "[2002:7f00:1::1]",
        "[2002:a00:1::1]",
        "[2002:a9fe:a9fe::1]",
        "[2002:c0a8:101::]",
        "[2620:4f:8000::1]",
        "[3fff::1]",
        "[3fff:fff::1]",
        "[5f00::1]",
        "[fd00:ec2::254]",
        "[fd00:ec2::23]",
        "[fd00:ec2:0::253]",
        "[fd00:c1::a9fe:a9fe]",
        "[fd20:ce::254]",
        "[::ffff:168.63.129.16]",
        "[64:ff9b::168.63.129.16]",
        "[fe80::1]",
        "[febf::1]",
        "[fec0::1]",
        "[feff::1]",
        "[ff02::1]",
        "[ff0e::1]",
        "[4000::1]",
        "[e000::1]",
        "[1::1]",
    ];

    /// Denied unless `allow_private` is set.
    const PRIVATE: &[&str] = &[
        "10.0.0.1",
        "10.255.255.255",
        "012.0.0.1",
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "0177.0.0.01",
        "127.255.255.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "192.168.257",
        "0xc0a80001",
        "3232235521",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::FFFF:10.0.0.1]",
        "[::ffff:192.168.1.1]",
        "[::ffff:172.16.0.1]",
        "[fc00::1]",
        "[fd12:3456::1]",
        "[fd20:cd::254]",
        "[fdff:ffff::1]",
    ];

    const OPEN: &[&str] = &[
        "8.8.8.8",
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.1",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.1",
        "134744072",
        "0x08080808",
        "169.253.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.1.1",
        "192.169.1.1",
        "198.17.1.1",
        "198.20.0.1",
        "223.255.255.255",
        "168.63.129.15",
        "168.63.129.17",
        "[2606:4700::1111]",
        "[2a00:1450:4001::1]",
        "[2001:200::1]",
        "[2001:4860:4860::8888]",
        "[2002:808:808::1]",
        "[64:ff9b::8.8.8.8]",
        "[::ffff:8.8.8.8]",
        "[3ffe::1]",
    ];

    #[test]
    fn no_shut_address_passes_in_any_spelling() {
        assert!(ALWAYS_SHUT.len() + PRIVATE.len() >= 60);
        for host in ALWAYS_SHUT.iter().chain(PRIVATE) {
            assert!(judged(host, false).is_err(), "{host}");
        }
    }

    #[test]
    fn allowing_private_opens_loopback_and_private_networks_only() {
        for host in ALWAYS_SHUT {
            assert!(judged(host, true).is_err(), "{host}");
        }
        for host in PRIVATE {
            assert!(judged(host, true).is_ok(), "{host}");
        }
    }

    #[test]
    fn global_addresses_pass() {
        for host in OPEN {
            assert_eq!(judged(host, false), Ok(()), "{host}");
            assert_eq!(judged(host, true), Ok(()), "{host}");
        }
    }

    #[test]
    fn a_refusal_names_address_and_rule() {
        let refusal = judged("169.254.169.254", true).unwrap_err();
        assert_eq!(refusal, "169.254.169.254 is link-local and metadata");
    }

    #[test]
    fn our_own_listeners_are_never_dialled() {
        let guard = |own: &str| Guard { allow_private: true, own_listeners: vec![own.parse().unwrap()] };
        let judged = |own: &str, target: &str| guard(own).check(target.parse().unwrap()).is_ok();
        assert!(!judged("127.0.0.1:8376", "127.0.0.1:8376"));
        assert!(!judged("127.0.0.1:8376", "[::ffff:127.0.0.1]:8376"));
        assert!(judged("127.0.0.1:8376", "127.0.0.1:8377"));
        assert!(!judged("0.0.0.0:8376", "127.0.0.1:8376"));
        assert!(!judged("[::]:8376", "10.0.0.7:8376"));
        assert!(judged("0.0.0.0:8376", "8.8.8.8:8376"));
        let dialled =
            |local: &str, peer: &str| guard("0.0.0.0:80").check_dialled(local.parse().unwrap(), peer.parse().unwrap());
        assert!(dialled("8.8.4.4:50000", "8.8.4.4:80").is_err());
        assert!(dialled("8.8.4.4:50000", "8.8.4.4:81").is_ok());
        assert!(dialled("8.8.4.4:50000", "8.8.8.8:80").is_ok());
    }
}

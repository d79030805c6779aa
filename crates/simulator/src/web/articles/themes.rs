//! What the sites of an invented web are about, as lists of words.

/// What a site writes about. Each list fits into the patterns of `sentences`.
#[derive(Debug)]
pub(in crate::web) struct Theme {
    /// The first part of the site's name.
    pub name: &'static str,
    /// What stands at the top of each page.
    pub masthead: &'static str,
    pub who: [&'static str; 8],
    /// What they did with things.
    pub did: [&'static str; 8],
    pub adjectives: [&'static str; 8],
    pub things: [&'static str; 12],
    pub places: [&'static str; 8],
    /// What things are.
    pub states: [&'static str; 8],
}

impl Theme {
    pub fn of_site(number: usize) -> &'static Theme {
        &THEMES[number % THEMES.len()]
    }

    /// Sites of one theme are told apart by a number. `.example` belongs to nobody (RFC 2606).
    pub fn site_name(number: usize) -> String {
        let name = Theme::of_site(number).name;
        match number / THEMES.len() {
            0 => format!("{name}.example"),
            round => format!("{name}{}.example", round + 1),
        }
    }
}

#[rustfmt::skip]
const THEMES: [Theme; 8] = [
    Theme {
        name: "garden",
        masthead: "Garden Notes",
        who: ["the gardener", "Anna Weber", "our neighbour", "the allotment club", "Tom Hale",
            "the head of the nursery", "a volunteer", "Mrs Okoro"],
        did: ["planted", "watered", "pruned", "sowed", "moved", "covered", "harvested", "photographed"],
        adjectives: ["early", "late", "yellow", "climbing", "dwarf", "hardy", "scented", "old-fashioned"],
        things: ["tomatoes", "roses", "beans", "pumpkins", "herbs", "tulips", "raspberries", "onions", "apple trees",
            "sunflowers", "leeks", "strawberries"],
        places: ["in the north bed", "behind the greenhouse", "along the south wall", "near the pond",
            "under the pear tree", "beside the gate", "in the cold frame", "on the terrace"],
        states: ["ready to pick", "still too small", "covered in buds", "short of water", "free of mildew",
            "in full flower", "due for pruning", "under glass"],
    },
    Theme {
        name: "news",
        masthead: "The Valley Courier",
        who: ["the mayor", "the council", "a spokeswoman", "the fire brigade", "Inspector Lund", "the school board",
            "a resident", "Councillor Pike"],
        did: ["opened", "inspected", "closed", "announced", "repaired", "counted", "approved", "rejected"],
        adjectives: ["new", "controversial", "narrow", "northern", "temporary", "popular", "disputed", "costly"],
        things: ["bridges", "bus stops", "playgrounds", "cycle lanes", "road works", "flood barriers", "street lamps",
            "car parks", "footpaths", "market stalls", "crossings", "noise barriers"],
        places: ["in the old town", "at the station", "on Mill Street", "near the hospital", "by the river",
            "in the west end", "along the ring road", "at the harbour"],
        states: ["open again", "closed to traffic", "behind schedule", "paid for", "out of order", "under review",
            "ahead of plan", "back in service"],
    },
    Theme {
        name: "shop",
        masthead: "Corner Shop Online",
        who: ["the owner", "our buyer", "Ms Ferrari", "the warehouse", "a customer", "the weekend team", "Mr Adeyemi",
            "the repair desk"],
        did: ["ordered", "unpacked", "tested", "returned", "reduced", "wrapped", "sold", "recommended"],
        adjectives: ["blue", "second-hand", "foldable", "waterproof", "handmade", "light", "limited", "refurbished"],
        things: ["lamps", "rucksacks", "kettles", "notebooks", "bicycle pumps", "umbrellas", "wool socks", "chess sets",
            "lunch boxes", "torches", "water bottles", "desk clocks"],
        places: ["in the window", "on the second shelf", "in the storeroom", "at the counter",
            "in the spring catalogue", "on the sale table", "at the Elm Road branch", "in the web shop"],
        states: ["in stock", "sold out", "on their way", "on offer", "back in two sizes", "available to order",
            "reserved", "discontinued"],
    },
    Theme {
        name: "library",
        masthead: "City Library",
        who: ["the librarian", "Dr Silva", "the reading circle", "a student", "the archive", "the night shift",
            "Miss Grant", "the friends of the library"],
        did: ["catalogued", "borrowed", "restored", "lent out", "shelved", "scanned", "translated", "presented"],
        adjectives: ["rare", "illustrated", "forgotten", "signed", "annotated", "local", "bilingual", "well-thumbed"],
        things: ["atlases", "letters", "novels", "maps", "recordings", "newspapers", "manuscripts", "diaries",
            "picture books", "dictionaries", "posters", "travel guides"],
        places: ["in the reading room", "on the third floor", "in the local collection", "at the returns desk",
            "in the children's corner", "behind the lift", "in the stacks", "in the map cabinet"],
        states: ["on loan", "ready for collection", "being rebound", "on display", "overdue", "open to members",
            "missing", "catalogued at last"],
    },
    Theme {
        name: "kitchen",
        masthead: "The Sunday Kitchen",
        who: ["the cook", "Grandmother", "Chef Moreau", "the baker next door", "Lena", "a reader from Leeds",
            "the test kitchen", "the market woman"],
        did: ["baked", "peeled", "tasted", "roasted", "pickled", "froze", "chopped", "stirred in"],
        adjectives: ["ripe", "smoked", "salted", "roasted", "sour", "wild", "dried", "crisp"],
        things: ["lentils", "mushrooms", "walnuts", "peppers", "plums", "dumplings", "chestnuts", "flatbreads",
            "capers", "noodles", "pears", "shallots"],
        places: ["in a heavy pan", "on the lower shelf of the oven", "under a cloth", "in the stone jar",
            "on a floured board", "in cold water", "next to the stove", "on the big plate"],
        states: ["golden brown", "soft in the middle", "ready to serve", "best on the second day", "too salty",
            "cool enough", "reduced by half", "just done"],
    },
    Theme {
        name: "railway",
        masthead: "Branch Line Society",
        who: ["the signalman", "the driver", "Mr Brandt", "the workshop", "a young member", "the timetable group",
            "the conductor", "the treasurer"],
        did: ["repainted", "tested", "timed", "uncoupled", "restored", "bought", "inspected", "drove"],
        adjectives: ["narrow-gauge", "green", "borrowed", "steam-heated", "wooden", "wartime", "two-axle", "overhauled"],
        things: ["carriages", "signals", "locomotives", "sleepers", "goods wagons", "tickets", "timetables", "points",
            "lamps", "rails", "boilers", "buffers"],
        places: ["in the engine shed", "at Ashford Halt", "on the main line", "in the siding", "beyond the tunnel",
            "at the level crossing", "on platform two", "in the goods yard"],
        states: ["fit for service", "awaiting parts", "on time", "out of use", "booked until autumn",
            "back on the rails", "due for inspection", "freshly painted"],
    },
    Theme {
        name: "museum",
        masthead: "Museum of Everyday Life",
        who: ["the curator", "Professor Hahn", "the restorer", "a school class", "the donor", "the guide",
            "Ms Nakamura", "the evening guard"],
        did: ["cleaned", "labelled", "unpacked", "measured", "lent", "acquired", "photographed", "described"],
        adjectives: ["Roman", "painted", "fragile", "anonymous", "carved", "gilded", "unfinished", "medieval"],
        things: ["coins", "portraits", "clocks", "toys", "masks", "tiles", "spoons", "looms", "cameras", "typewriters",
            "vases", "keys"],
        places: ["in room four", "in the glass case", "on the ground floor", "in the new wing", "at the entrance",
            "in the depot", "beside the staircase", "in the attic gallery"],
        states: ["on show", "in storage", "under restoration", "back from loan", "dated at last", "too fragile to move",
            "insured", "part of the tour"],
    },
    Theme {
        name: "harbour",
        masthead: "Harbour Office",
        who: ["the harbour master", "the pilot", "Captain Reyes", "the crane crew", "the lifeboat crew",
            "the coastguard", "a fisherman", "the port office"],
        did: ["loaded", "towed", "moored", "weighed", "inspected", "cleared", "repaired", "escorted"],
        adjectives: ["rusty", "large", "foreign", "empty", "delayed", "wooden", "refrigerated", "heavy"],
        things: ["containers", "ferries", "trawlers", "buoys", "barges", "nets", "anchors", "lifeboats", "cranes",
            "yachts", "crates", "tugs"],
        places: ["at the east quay", "off the breakwater", "in the dry dock", "at berth nine", "in the fairway",
            "by the fish hall", "on the slipway", "outside the lock"],
        states: ["alongside", "at anchor", "cleared by customs", "due at high water", "laid up", "ready to sail",
            "under repair", "overloaded"],
    },
];

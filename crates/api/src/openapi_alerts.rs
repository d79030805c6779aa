//! The routes of alerts described for machines.

use super::openapi::{JSON, LIMIT, LINES, Parameter, Route, delete, get, post, put};

const ID: Parameter = ("id", "string", true, "The id of a watch, such as w7");
const NAME: Parameter = ("name", "string", true, "The name of a route");

pub(super) const ROUTES: &[Route] = &[
    get("/api/v1/watches", "The watches", &[], LINES),
    post(
        "/api/v1/watches",
        "Makes a watch, given as JSON, and shows what it would have told in 30 days",
        &[("since", "string", false, "A cursor or a time from which on it tells; now where none is given")],
    ),
    post("/api/v1/watches/preview", "What a watch would have told: {\"watch\":…,\"for\":\"30d\"}", &[]),
    get("/api/v1/watches/{id}", "One watch", &[ID], JSON),
    put("/api/v1/watches/{id}", "Puts a watch in the place of the one with this id", &[ID]),
    delete("/api/v1/watches/{id}", "Removes a watch, and what waits to be sent because of it", &[ID]),
    get(
        "/api/v1/watches/{id}/test",
        "What the last changes would have sent, and to whom; nothing is sent",
        &[
            ID,
            ("last", "integer", false, "So many of the newest changes of what it watches (default: 100)"),
            ("event", "string", false, "Only this event, by its id"),
        ],
        LINES,
    ),
    post(
        "/api/v1/watches/{id}/test",
        "The same as GET",
        &[
            ID,
            ("last", "integer", false, "So many of the newest changes of what it watches (default: 100)"),
            ("event", "string", false, "Only this event, by its id"),
        ],
    ),
    post("/api/v1/watches/{id}/pause", "Tells nothing until it is resumed", &[ID]),
    post(
        "/api/v1/watches/{id}/resume",
        "Tells again",
        &[ID, ("missed", "boolean", false, "Also what happened meanwhile")],
    ),
    post("/api/v1/watches/{id}/acknowledge", "Says no more of what it lost", &[ID]),
    get("/api/v1/routes", "Where alerts go; nothing secret is told", &[], LINES),
    post("/api/v1/routes", "Makes a route to a webhook or to mail, given as JSON; a new secret is told once", &[]),
    get("/api/v1/routes/{name}", "One route", &[NAME], JSON),
    put("/api/v1/routes/{name}", "Changes a route; secrets that are not given stay", &[NAME]),
    delete("/api/v1/routes/{name}", "Removes a route that no watch uses", &[NAME]),
    post("/api/v1/routes/{name}/test", "Sends a test now", &[NAME]),
    post("/api/v1/routes/{name}/enable", "Sends again on a route that was switched off", &[NAME]),
    post("/api/v1/routes/{name}/rotate", "Makes a new secret beside the one in force, and tells it once", &[NAME]),
    get(
        "/api/v1/deliveries",
        "What was sent, what waits and what was given up, newest first",
        &[
            ("watch", "string", false, "Only of this watch"),
            ("route", "string", false, "Only on this route"),
            ("state", "string", false, "waiting, sent or given-up"),
            ("after", "string", false, "Where an earlier answer ended"),
            LIMIT,
        ],
        LINES,
    ),
    post(
        "/api/v1/deliveries/{id}/again",
        "Sends a delivery anew, with the same id",
        &[("id", "string", true, "The id of a delivery, percent-encoded")],
    ),
];

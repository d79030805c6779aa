// Everything here is an addition: each screen is whole without it. No inline script, no dependency, no markup made of text:
// parts of screens come from the server as documents, and nodes are moved.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const SVG = "http://www.w3.org/2000/svg";
const quiet = matchMedia("(prefers-reduced-motion: reduce)");

/** Another screen of ours, parsed by the browser and not run. */
function fetched(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => (request.response ? resolve(request.response) : reject(new Error(String(request.status))));
    request.onerror = () => reject(new Error("lost"));
    request.send();
  });
}

// --- parts that take their time

async function fill(part) {
  try {
    const other = await fetched(part.dataset.part);
    const whole = other.getElementById(part.id);
    if (!whole) throw new Error("no such part");
    const placed = document.importNode(whole, true);
    part.replaceWith(placed);
    awaken(placed);
  } catch {
    part.removeAttribute("aria-busy");
    $(".note", part)?.prepend("This could not be fetched. ");
  }
}

/** What a part needs once it stands in the page. */
function awaken(root) {
  $$("[data-part]", root).forEach(fill);
  const box = root.matches?.("[data-whatif]") ? root : $("[data-whatif]", root);
  if (box) slide(box);
  const side = $("[data-side]", root);
  if (side) joinMoves(side);
}

// --- what if: the plan for all budgets came with the part, so that the slider asks nobody

function slide(box) {
  const lines = $$("tbody tr", box);
  const cells = (line) => $$("td", line).map((cell) => cell.textContent);
  const now = Number(cells(lines[Number($("[data-now]", box).dataset.now)])[2]);
  const input = $("input[type=range]", box);
  input.hidden = false;
  input.addEventListener("input", () => {
    const line = lines[Number(input.value)];
    const [budget, visits, fresh] = cells(line);
    const more = Number(fresh) - now;
    const dot = $("[data-dot]", box);
    dot.setAttribute("cx", `${line.dataset.x}%`);
    dot.setAttribute("cy", line.dataset.y);
    const differs = Math.abs(more) < 0.05 ? "the same as today" : `${Math.abs(more).toFixed(1)} points ${more > 0 ? "more" : "less"} than today`;
    $("output", box).replaceChildren("With ", bold(budget), `, ${visits} visits a day, freshness would be `, bold(`${fresh} %`), `: ${differs}.`);
  });
}

function bold(text) {
  const b = document.createElement("b");
  b.textContent = text;
  return b;
}

// --- light and dark: the server keeps the choice; the page changes at once

$("[data-theme-next]")?.closest("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const button = $("[data-theme-next]");
  const next = button.value;
  document.documentElement.dataset.theme = next;
  const other = next === "dark" ? "light" : "dark";
  const form = new URLSearchParams({ theme: next, back: "/" });
  button.value = other;
  button.textContent = other[0].toUpperCase() + other.slice(1);
  fetch("/theme", { method: "POST", body: form, redirect: "manual" });
});

// --- keyboard: never while typing, never with a modifier, and not where single keys are turned off

const keys = $("#keys");
const typing = "input:not([type=checkbox]):not([type=radio]):not([type=range]), select, textarea, [contenteditable]";
let goingUntil = 0;
$$("[data-open=keys]").forEach((a) => a.addEventListener("click", (event) => { event.preventDefault(); keys.showModal(); }));

const acts = {
  "/": () => $("#jump")?.focus(),
  "?": () => keys.showModal(),
  g: () => { goingUntil = performance.now() + 1200; },
  j: () => step(1),
  k: () => step(-1),
  Enter: () => open(),
  e: () => press("e"),
  a: () => press("a"),
  n: () => press("n"),
  u: () => press("u"),
  b: () => press("b"),
  h: () => press("h"),
  c: () => press("c"),
  ".": () => press("."),
  ",": () => press(","),
  1: () => press("1"),
  2: () => press("2"),
  3: () => press("3"),
  4: () => press("4"),
  "]": () => change(1),
  "[": () => change(-1),
  z: () => { const bars = $$(".aside-bar"), opens = bars.some((bar) => !bar.open); bars.forEach((bar) => { bar.open = opens; }); },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys?.open) return;
  if (event.target.matches(typing)) { if (event.key === "Escape") event.target.blur(); return; }
  if (document.documentElement.dataset.keys === "off") return;
  if (performance.now() < goingUntil) {
    goingUntil = 0;
    const way = $$("[data-go]").find((a) => a.dataset.go === event.key);
    if (way) { event.preventDefault(); location.assign(way.href); return; }
  }
  // Enter opens the chosen row only where no link or button has the focus.
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  const act = acts[event.key];
  if (act && act() !== false) event.preventDefault();
});

/** Presses what carries this key: within the chosen row first, then in the page. */
function press(key) {
  const found = [chosen(), document].map((root) => root && $(`[data-key="${key}"]`, root)).find(Boolean);
  if (!found) return false;
  if (found.dataset.copy) copy(found); else found.click();
  return true;
}

// --- lists: j and k choose a row, Enter opens it, and beside it a peek is shown

const rows = () => $$("[data-rows] > [data-row]");
const chosen = () => $("[data-rows] > [aria-current=true]");

function step(by) {
  const all = rows();
  if (!all.length) return false;
  const next = all[Math.min(all.length - 1, Math.max(0, all.indexOf(chosen()) + by))];
  choose(next);
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function choose(row) {
  chosen()?.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  peek(row);
}

function open() {
  const link = chosen() && $("a", chosen());
  if (!link) return false;
  link.click();
  return true;
}

let peeking = 0;
function peek(row) {
  const pane = $("[data-peek]");
  if (!pane || !row.dataset.row || !pane.offsetParent) return;
  clearTimeout(peeking);
  peeking = setTimeout(async () => {
    try {
      const other = await fetched(row.dataset.row);
      const event = $("[data-event]", other);
      if (!event || chosen() !== row) return;
      // Marks lead back to this list, not to the change alone.
      const here = new URL(location), back = $("[name=back]", event);
      here.searchParams.delete("undo");
      if (back) back.value = here.pathname + here.search;
      pane.replaceChildren(document.importNode(event, true));
    } catch { /* the pane keeps what it shows */ }
  }, 80);
}
$$("[data-rows]").forEach((list) => list.addEventListener("click", (event) => {
  const row = event.target.closest("[data-row]");
  const pane = $("[data-peek]");
  // Where there is a pane, a plain press shows the change beside the list; the link in the pane leads on.
  if (!row || !pane?.offsetParent || event.ctrlKey || event.metaKey || event.shiftKey || !event.target.closest(".title a") || event.detail === 0) return;
  if (row === chosen()) return;
  event.preventDefault();
  choose(row);
}));

// --- a link that is copied

async function copy(link) {
  const words = new URL(link.href, location.href).href;
  try {
    await navigator.clipboard.writeText(link.dataset.copy === "words" ? `${link.dataset.words ?? ""} ${words}`.trim() : words);
    const before = link.textContent;
    link.textContent = "copied";
    setTimeout(() => { link.textContent = before; }, 1500);
  } catch { location.assign(words); }
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-copy]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !navigator.clipboard) return;
  event.preventDefault();
  copy(link);
});

// --- the diff: next change, and arrows from where a paragraph stood to where it stands

function change(by) {
  const all = $$(".para:not(.same)").filter((para) => para.offsetParent);
  if (!all.length) return false;
  const middle = innerHeight / 3;
  const tops = all.map((para) => para.getBoundingClientRect().top - middle);
  const at = by > 0 ? tops.findIndex((top) => top > 4) : tops.findLastIndex((top) => top < -4);
  if (at >= 0) scrollBy({ top: tops[at], behavior: quiet.matches ? "auto" : "smooth" });
  return true;
}

function joinMoves(side) {
  const draw = () => {
    $(".links-layer", side)?.remove();
    const box = side.getBoundingClientRect();
    const layer = document.createElementNS(SVG, "svg");
    for (const [name, value] of [["class", "links-layer"], ["aria-hidden", "true"], ["width", box.width], ["height", box.height]]) layer.setAttribute(name, value);
    for (const from of $$("[data-from]", side)) {
      const to = $(`[data-to="${CSS.escape(from.dataset.from)}"]`, side);
      if (!to) continue;
      const a = from.getBoundingClientRect(), b = to.getBoundingClientRect();
      const x1 = a.right - box.left + 2, y1 = a.top + a.height / 2 - box.top, x2 = b.left - box.left - 8, y2 = b.top + b.height / 2 - box.top;
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("d", `M${x1},${y1}C${x1 + 30},${y1} ${x2 - 30},${y2} ${x2},${y2}`);
      const head = document.createElementNS(SVG, "polygon");
      head.setAttribute("points", `${x2 + 6},${y2} ${x2 - 2},${y2 - 4} ${x2 - 2},${y2 + 4}`);
      layer.append(line, head);
    }
    side.append(layer);
  };
  document.fonts.ready.then(draw);
  new ResizeObserver(draw).observe(side.parentElement);
}

// --- live: regions are exchanged when their content differs; rows of a list never move under the pointer

const REST_MS = 5000;
let stream, due = 0, pending = false, count = 0;

async function refresh() {
  pending = false;
  due = performance.now() + REST_MS;
  let other;
  try { other = await fetched(location.href); } catch { lost(true); return; }
  lost(false);
  for (const old of $$("[data-live]")) {
    // What somebody reads or uses is left alone.
    if (old.contains(document.activeElement) || $("details[open]", old)) continue;
    const young = $(`[data-live="${CSS.escape(old.dataset.live)}"]`, other);
    if (young && !young.isEqualNode(old)) old.replaceWith(document.importNode(young, true));
  }
}

function lost(is) {
  const banner = $("[data-lost]");
  if (banner) banner.hidden = !is;
}

function heard() {
  count += 1;
  const line = $("[data-new]");
  if (line) {
    line.hidden = false;
    $("[data-new-count]", line).textContent = String(count);
  }
  if (!pending) {
    pending = true;
    setTimeout(refresh, Math.max(400, due - performance.now()));
  }
}

function listen() {
  const cursor = $("#main")?.dataset.cursor;
  if (stream || !cursor || !$("[data-live], [data-new]")) return;
  stream = new EventSource(`/live?since=${encodeURIComponent(cursor)}`);
  stream.onopen = () => lost(false);
  stream.onerror = () => { if (stream?.readyState === EventSource.CLOSED) { stream = undefined; } };
  for (const kind of ["new", "changed", "gone", "back", "moved", "template", "message"]) stream.addEventListener(kind, heard);
}

// A hidden tab holds no connection; when it is seen again it catches up at once.
function look() {
  if (document.hidden) { stream?.close(); stream = undefined; return; }
  listen();
}
document.addEventListener("visibilitychange", () => { look(); if (!document.hidden && $("[data-live]")) refresh(); });

awaken(document);
look();

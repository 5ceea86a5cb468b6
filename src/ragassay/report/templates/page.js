"use strict";
(() => {
  const rows = Array.from(document.querySelectorAll("#list > .q"));
  const panel = document.getElementById("filters");
  if (!panel || !rows.length) return;
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const chips = Array.from(panel.querySelectorAll(".chip"));
  const groups = ["class", "outcome", "flag"];
  const count = (value) => value.toLocaleString("en-US");
  const element = (kind, name, text) => {
    const made = document.createElement(kind);
    made.className = name;
    made.textContent = text;
    return made;
  };

  /* Where questions stand on other pages, #index holds all of them in few words; else the rows of this page are all. */
  const stored = document.getElementById("index");
  const index = stored ? JSON.parse(stored.textContent) : null;
  const texts = new Map();
  const textOf = (at) => {
    if (!texts.has(at)) texts.set(at, (index ? index.rows[at][1] + " " + index.rows[at][2] : rows[at].textContent).toLowerCase());
    return texts.get(at);
  };
  const total = index ? index.rows.length : rows.length;
  const fits = (wanted, had) => !wanted.length || wanted.some((one) => had.split(" ").includes(one));
  const bits = (group, wanted) => wanted.reduce((sum, one) => sum | (1 << index.names[group].indexOf(one)), 0);
  const chosen = (name) => chips.filter((one) => one.dataset.group === name && one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.value);

  const away = document.getElementById("away");
  const further = document.getElementById("further");
  const button = document.getElementById("further-button");
  const pager = document.getElementById("pager");
  const STEP = 100;
  let elsewhere = [];
  const pageOf = (at) => {
    let page = 0;
    while (page + 1 < index.pages.length && index.pages[page + 1][1] <= at) page += 1;
    return index.pages[page][0];
  };
  const link = (at) => {
    const [number, id, text, kind, outcomes, , held, needed] = index.rows[at];
    const made = element("a", "q", "");
    made.href = pageOf(at) + "#q" + number;
    const words = element("span", "text", text);
    words.dir = "auto";
    const cell = element("span", "tagcell", "");
    cell.append(element("span", "tag", index.names.class[kind].replace("_", "-")));
    const facts = element("span", "facts", index.names.outcome.filter((name, bit) => outcomes & (1 << bit)).join(", ").replaceAll("-", " "));
    if (needed) facts.append(document.createElement("br"), element("span", held === needed ? "soft" : "lost", held + " of " + needed + (needed === 1 ? " fact" : " facts")));
    made.append(element("span", "id", id), words, cell, facts);
    return made;
  };
  const more = () => {
    const from = away.childElementCount;
    const part = document.createDocumentFragment();
    for (const at of elsewhere.slice(from, from + STEP)) part.append(link(at));
    away.append(part);
    away.hidden = !elsewhere.length;
    further.hidden = away.childElementCount >= elsewhere.length;
    button.textContent = "Show " + count(Math.min(STEP, elsewhere.length - away.childElementCount)) + " more of " + count(elsewhere.length - away.childElementCount);
    return from;
  };

  const stateOf = () => {
    const state = new URLSearchParams();
    for (const name of groups) for (const one of chosen(name)) state.append(name, one);
    if (search.value) state.set("search", search.value);
    return state.toString();
  };
  /* What the page opens on needs no mention in its address; everything else, an empty choice among it, stands there. */
  const opening = stateOf();
  const apply = () => {
    const wanted = groups.map(chosen);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = words.length > 0 || wanted.some((one) => one.length);
    const masks = index ? groups.map((name, at) => bits(name, wanted[at])) : [];
    const ok = (at) => {
      if (index) {
        const row = index.rows[at];
        if ((masks[0] && !(masks[0] & (1 << row[3]))) || (masks[1] && !(masks[1] & row[4])) || (masks[2] && !(masks[2] & row[5]))) return false;
      } else if (!groups.every((name, group) => fits(wanted[group], rows[at].dataset[name === "flag" ? "flags" : name]))) return false;
      return words.every((word) => textOf(at).includes(word));
    };
    let here = 0;
    rows.forEach((row, at) => {
      const fit = !active || ok(at);
      row.classList.toggle("off", !fit);
      if (fit) here += 1;
    });
    elsewhere = [];
    if (index && active) for (let at = rows.length; at < total; at += 1) if (ok(at)) elsewhere.push(at);
    if (away) {
      away.replaceChildren();
      more();
      pager.hidden = active;
    }
    const told = count(here + elsewhere.length) + " of " + count(total);
    shown.textContent = index && !active ? told + " questions stand here" : told + " questions shown" + (elsewhere.length ? ", " + count(elsewhere.length) + " of them on other pages" : "");
    const hash = stateOf();
    if (hash !== opening || location.hash.startsWith("#filter?")) {
      try { history.replaceState(null, "", hash !== opening ? "#filter?" + hash : location.pathname + location.search); } catch (refused) { /* some viewers keep the address fixed */ }
    }
  };
  const restore = () => {
    if (!location.hash.startsWith("#filter?")) return;
    const state = new URLSearchParams(location.hash.slice("#filter?".length));
    for (const chip of chips) chip.setAttribute("aria-pressed", String(state.getAll(chip.dataset.group).includes(chip.dataset.value)));
    search.value = state.get("search") || "";
  };
  for (const chip of chips) chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    apply();
  });
  search.addEventListener("input", apply);
  document.getElementById("clear").addEventListener("click", () => {
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    search.value = "";
    apply();
    search.focus();
  });
  if (button) button.addEventListener("click", () => {
    const from = more();
    if (away.children[from]) away.children[from].focus();
  });
  const all = document.getElementById("all");
  all.addEventListener("click", () => {
    const open = all.getAttribute("aria-expanded") !== "true";
    for (const row of rows) if (!row.classList.contains("off")) row.open = open;
    all.setAttribute("aria-expanded", String(open));
    all.textContent = open ? "Close all shown" : "Open all shown";
  });
  const jump = () => {
    const row = /^#q\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (row) { row.classList.remove("off"); row.open = true; row.scrollIntoView(); }
  };
  addEventListener("hashchange", jump);
  panel.hidden = false;
  restore();
  apply();
  jump();
})();

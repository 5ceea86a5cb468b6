"use strict";
(() => {
  const rows = Array.from(document.querySelectorAll(".q"));
  const panel = document.getElementById("filters");
  if (!panel || !rows.length) return;
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const chips = Array.from(panel.querySelectorAll(".chip"));
  const texts = new Map();
  const chosen = (name) => chips.filter((one) => one.dataset.group === name && one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.value);
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const some = (wanted, had) => !wanted.length || wanted.some((one) => had.split(" ").includes(one));
  const apply = () => {
    const classes = chosen("class"), outcomes = chosen("outcome"), flags = chosen("flag");
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const ok = some(classes, row.dataset.class) && some(outcomes, row.dataset.outcome) && some(flags, row.dataset.flags)
        && words.every((word) => textOf(row).includes(word));
      row.classList.toggle("off", !ok);
      if (ok) count += 1;
    }
    shown.textContent = count + " of " + rows.length + " questions shown";
    const state = new URLSearchParams();
    for (const [name, values] of [["class", classes], ["outcome", outcomes], ["flag", flags]]) for (const one of values) state.append(name, one);
    if (search.value) state.set("search", search.value);
    const hash = state.toString();
    try { history.replaceState(null, "", hash ? "#filter?" + hash : location.pathname + location.search); } catch (refused) { /* some viewers keep the address fixed */ }
  };
  const restore = () => {
    if (!location.hash.startsWith("#filter?")) return false;
    const state = new URLSearchParams(location.hash.slice("#filter?".length));
    for (const chip of chips) chip.setAttribute("aria-pressed", String(state.getAll(chip.dataset.group).includes(chip.dataset.value)));
    search.value = state.get("search") || "";
    return true;
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
  if (restore()) apply(); else { jump(); shown.textContent = rows.length + " of " + rows.length + " questions shown"; }
})();

// Controls of the page: hide a transport, read values, enlarge a figure, sort, search and filter tables.
// The page is complete without it. The address keeps the choices, after #view:.
"use strict";
(() => {
  const VIEW = "#view:";
  const view = {hide: new Set(), zoom: "", find: new Map(), sort: new Map(), only: new Map()};
  const tables = [...document.querySelectorAll(".data-table table")];
  const sheet = document.head.appendChild(document.createElement("style")).sheet;
  const transports = JSON.parse(document.body.dataset.transports);

  function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  // The address.

  function read() {
    if (!location.hash.startsWith(VIEW)) return;
    const parameters = new URLSearchParams(location.hash.slice(VIEW.length));
    for (const name of parameters.getAll("hide")) view.hide.add(name);
    view.zoom = parameters.get("zoom") || "";
    for (const text of parameters.getAll("find")) keep(view.find, text, /^(\d+):(.*)$/);
    for (const text of parameters.getAll("sort")) keep(view.sort, text, /^(\d+):(-?\d+)$/);
    for (const [name, text] of parameters) if (name.startsWith("only-")) view.only.set(name.slice(5), text);
  }

  function keep(map, text, form) {
    const [, table, what] = form.exec(text) || [];
    if (tables[table]) map.set(Number(table), what);
  }

  function write() {
    const parameters = new URLSearchParams();
    for (const name of view.hide) parameters.append("hide", name);
    if (view.zoom) parameters.append("zoom", view.zoom);
    for (const [table, text] of view.find) if (text) parameters.append("find", `${table}:${text}`);
    for (const [table, column] of view.sort) parameters.append("sort", `${table}:${column}`);
    for (const [name, text] of view.only) if (text) parameters.append(`only-${name}`, text);
    const text = parameters.toString();
    if (text || location.hash.startsWith(VIEW)) history.replaceState(null, "", text ? VIEW + text : "#");
  }

  // Transports: whatever has a hidden one's colour is not shown.

  function hide() {
    while (sheet.cssRules.length) sheet.deleteRule(0);
    for (const {name, variable} of transports) {
      if (!view.hide.has(name)) continue;
      const own = `[style*="var(${variable})"], [style*="var(${variable},"]`;
      sheet.insertRule(`.plot svg :is(${own}) { visibility: hidden }`);
      sheet.insertRule(`tr:has(.swatch:is(${own})) { display: none }`);
    }
  }

  function choices() {
    const row = element("p", {className: "ask"}, "Show ");
    for (const {name, variable} of transports) {
      const button = element("button", {type: "button"}, name);
      button.style.setProperty("--own", `var(${variable})`);
      button.setAttribute("aria-pressed", String(!view.hide.has(name)));
      button.onclick = () => {
        view.hide.has(name) ? view.hide.delete(name) : view.hide.add(name);
        button.setAttribute("aria-pressed", String(!view.hide.has(name)));
        hide();
        write();
      };
      row.append(button, " ");
    }
    if (transports.length > 1) document.querySelector("header").append(row);
  }

  // Figures.

  function enlarge(figure) {
    const name = figure.querySelector(".sub").id;
    const button = element("button", {type: "button", className: "enlarge"}, "Enlarge");
    const show = is => {
      figure.classList.toggle("enlarged", is);
      button.textContent = is ? "Close" : "Enlarge";
      document.body.classList.toggle("held", is);
    };
    button.onclick = () => {
      const is = !figure.classList.contains("enlarged");
      show(is);
      view.zoom = is ? name : "";
      write();
      button.focus();
    };
    figure.querySelector(".plot").before(button);
    if (view.zoom === name) show(true);
  }

  function rows(figure) {
    const link = figure.querySelector('a[href^="data:text/csv"]');
    if (!link) return [];
    const lines = decodeURIComponent(link.href.slice(link.href.indexOf(",") + 1)).trim().split(/\r?\n/);
    const cells = lines.map(line => [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)]
      .map(([, quoted, plain]) => quoted === undefined ? plain : quoted.replaceAll('""', '"')));
    const head = cells.shift();
    return cells.map(row => Object.fromEntries(head.map((name, place) => [name, row[place]])));
  }

  // Where a value lies between the ends of an axis, from 0 to 1. Source of symlog: matplotlib's transform.
  function along({low, high, scale, threshold, linear}, value) {
    const grow = linear / (1 - 0.1);
    const bent = x => scale === "log" ? Math.log10(x) : scale !== "symlog" ? x
      : Math.abs(x) <= threshold ? x * grow
      : Math.sign(x) * threshold * (grow + Math.log10(Math.abs(x) / threshold));
    return (bent(value) - bent(low)) / (bent(high) - bent(low));
  }

  function points(figure) {
    const {axes, x, y} = JSON.parse(figure.querySelector(".plot").dataset.axes);
    const found = [];
    for (const row of rows(figure)) {
      const [across, up] = [Number(row[x]), Number(row[y])];
      const panel = axes.find(each => each.panel === (row.panel || ""));
      if (!panel || !row[x] || !row[y] || !isFinite(across) || !isFinite(up)) continue;
      const [left, top, width, height] = panel.box;
      const [right, down] = [along(panel.x, across), 1 - along(panel.y, up)];
      if (right < 0 || right > 1 || down < 0 || down > 1) continue;
      const spread = row.low && row.high ? ` (${row.low} to ${row.high})` : "";
      const words = [row.series, row.mark, row.line, `${x} ${row[x]}`, `${y} ${row[y]}${spread} ${row.unit || ""}`];
      found.push({left: left + right * width, top: top + down * height,
        text: words.filter(Boolean).join("\n").trim()});
    }
    return found;
  }

  function showValues(figure) {
    const plot = figure.querySelector(".plot");
    const picture = plot.querySelector("svg");
    if (!plot.dataset.axes || !picture) return;
    const note = plot.appendChild(element("output", {className: "value", hidden: true}));
    let known = null;
    plot.onpointermove = event => {
      known = known || points(figure);
      const box = picture.getBoundingClientRect();
      const away = each => Math.hypot(each.left * box.width + box.left - event.clientX,
        each.top * box.height + box.top - event.clientY);
      const nearest = known.reduce((best, each) => !best || away(each) < away(best) ? each : best, null);
      note.hidden = !nearest || away(nearest) > 24;
      if (note.hidden) return;
      const frame = plot.getBoundingClientRect();
      note.textContent = nearest.text;
      note.style.left = `${nearest.left * box.width + box.left - frame.left + plot.scrollLeft}px`;
      note.style.top = `${nearest.top * box.height + box.top - frame.top}px`;
    };
    plot.onpointerleave = () => { note.hidden = true; };
  }

  // Tables.

  function number(cell) {
    const text = (cell.dataset.number || (cell.firstChild ? cell.firstChild.textContent : "")).replaceAll("\u202f", "").replace("\u2212", "-");
    return text.trim() && isFinite(Number(text)) ? Number(text) : null;
  }

  // Those that name what is below them stay at the top.
  const rowsOf = body => [...body.rows].filter(row => !row.classList.contains("group"));

  function sort(table, column) {
    const [place, sign] = [Math.abs(column) - 1, Math.sign(column)];
    const compare = (one, other) => {
      const [a, b] = [one.cells[place], other.cells[place]];
      const [m, n] = [number(a), number(b)];
      if (m !== null && n !== null) return sign * (m - n);
      if (m !== null || n !== null) return m === null ? 1 : -1;
      return sign * a.textContent.localeCompare(b.textContent, "en", {numeric: true});
    };
    for (const body of table.tBodies) body.append(...rowsOf(body).sort(compare));
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      if (at === place) head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  }

  // A cell's values that a list offers: those of `data-choices`, else its text.
  const choicesOf = cell => cell.dataset.choices ? JSON.parse(cell.dataset.choices) : [cell.textContent.trim()];

  function filter(table, at) {
    const text = (view.find.get(at) || "").toLowerCase();
    const chosen = [...table.tHead.rows[0].cells].map(head => view.only.get(head.dataset.choose) || "");
    const rows = [...table.tBodies].flatMap(rowsOf);
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(text)
        || chosen.some((value, place) => value && !choicesOf(row.cells[place]).includes(value));
    }
    const note = table.closest(".data-table").previousElementSibling.querySelector("output");
    note.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} rows`;
  }

  // A list of the values of a column with `data-choose`, and a box for the value of `data-only`.
  function chooser(table, head, apply) {
    const {choose, only} = head.dataset;
    const cells = [...table.tBodies].flatMap(rowsOf).map(row => row.cells[head.cellIndex]);
    const values = [...new Set(cells.flatMap(choicesOf))].sort();
    const select = element("select", {}, new Option(`any ${choose}`, ""), ...values.map(text => new Option(text)));
    const box = element("input", {type: "checkbox"});
    const set = value => {
      select.value = values.includes(value) ? value : "";
      box.checked = only !== undefined && select.value === only;
      view.only.set(choose, select.value);
    };
    set(view.only.get(choose));
    select.setAttribute("aria-label", choose);
    select.onchange = () => { set(select.value); apply(); };
    box.onchange = () => { set(box.checked ? only : ""); apply(); };
    return only ? [select, element("label", {}, box, ` ${only} only`)] : [select];
  }

  function addControls(table, at) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const button = element("button", {type: "button", className: "sort"}, ...head.childNodes);
      button.onclick = () => {
        const column = view.sort.get(at) === String(place + 1) ? -(place + 1) : place + 1;
        view.sort.set(at, String(column));
        sort(table, column);
        write();
      };
      head.append(button);
    });
    if (view.sort.has(at)) {
      const column = Number(view.sort.get(at));
      if (Math.abs(column) >= 1 && Math.abs(column) <= table.tHead.rows[0].cells.length) sort(table, column);
    }
    if ([...table.tBodies].flatMap(rowsOf).length < 4) return;
    const input = element("input", {type: "search", value: view.find.get(at) || ""});
    const apply = () => {
      view.find.set(at, input.value);
      filter(table, at);
      write();
    };
    input.oninput = apply;
    const lists = heads.filter(head => head.dataset.choose).flatMap(head => chooser(table, head, apply));
    table.closest(".data-table").before(element("p", {className: "ask"},
      element("label", {}, "Rows with ", input), ...lists, element("output")));
    filter(table, at);
  }

  read();
  choices();
  hide();
  for (const figure of document.querySelectorAll("figure:has(.plot)")) {
    enlarge(figure);
    showValues(figure);
  }
  tables.forEach(addControls);
  const target = location.hash.startsWith(VIEW) ? null : document.getElementById(location.hash.slice(1));
  if (target && target.matches("tr.claim")) target.querySelector("details").open = true;
  document.addEventListener("keydown", event => {
    const open = document.querySelector("figure.enlarged .enlarge");
    if (event.key === "Escape" && open) open.click();
  });
})();

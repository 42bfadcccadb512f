// A slider per key, over the values that ran. The nearest point that ran is named; nothing is interpolated.
"use strict";
(() => {
  const table = document.getElementById("points");
  const heads = [...table.tHead.rows[0].cells];
  const questions = heads.filter(head => "question" in head.dataset).map(head => head.textContent);
  const keys = heads.filter(head => "key" in head.dataset).map(head => head.textContent);
  const points = [...table.tBodies[0].rows].filter(row => row.dataset.places).map(row => ({
    row,
    name: row.cells[0].textContent,
    places: row.dataset.places.split(" ").map(Number),
    found: questions.map((_, at) => row.cells[1 + at]),
    values: keys.map((_, at) => row.cells[1 + questions.length + at].textContent),
  }));
  if (!points.length) return;

  function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  function slider(key, at) {
    const known = new Map(points.map(point => [point.places[at], point.values[at]]));
    const places = [...known.keys()].sort((one, other) => one - other);
    const output = element("output", {});
    const own = places.indexOf(points[0].places[at]);
    const input = element("input", {type: "range", min: "0", max: String(places.length - 1), step: "1"});
    input.value = String(own);
    const made = {
      label: element("label", {}, `${key}: `, output, input),
      place: () => places[input.value],
      value: () => known.get(places[input.value]),
    };
    input.oninput = () => {
      output.textContent = made.value();
      input.setAttribute("aria-valuetext", made.value());
      show();
    };
    output.textContent = made.value();
    input.setAttribute("aria-valuetext", made.value());
    return made;
  }

  // How far a point is: the shares of all ranges by which its values differ, added up. Of several the first.
  function nearest() {
    const far = point => sliders.reduce((sum, each, at) => sum + Math.abs(each.place() - point.places[at]), 0);
    return points.reduce((best, point) => (far(point) < far(best) ? point : best));
  }

  function show() {
    const point = nearest();
    const differ = keys.map((key, at) => [key, sliders[at].value(), point.values[at]])
      .filter(([, asked, ran]) => asked !== ran).map(([key, asked, ran]) => `${key} ${ran} and not ${asked}`);
    const which = differ.length ? `The nearest cell that ran has ${differ.join(", ")}: ` : "This ran: ";
    note.replaceChildren(element("p", {}, which, element("code", {}, point.name)));
    const list = element("ul", {});
    questions.forEach((name, at) => {
      const [number, ...verdict] = [...point.found[at].childNodes].map(node => node.textContent);
      list.append(element("li", {}, [`${name}: ${number}`, ...verdict].join(", ")));
    });
    note.append(list);
    for (const each of points) each.row.removeAttribute("aria-current");
    point.row.setAttribute("aria-current", "true");
  }

  const sliders = keys.map(slider);
  const note = element("div", {className: "nearest"});
  note.setAttribute("role", "status");
  const details = table.closest("details");
  details.before(element("div", {className: "sliders"}, ...sliders.map(each => each.label)), note);
  show();
})();

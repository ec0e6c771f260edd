"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);
  const kept = `annotation/${data.sample}/${location.pathname}`;
  const known = new Set(data.items.map((item) => item.item));
  let labels = {};
  let current = 0;
  let unsaved = false;

  const of = (item) => labels[item] || { label: null, significance: null, note: "" };
  const labelled = (item) => of(item.item).label !== null;
  const say = (text) => { get("status").textContent = text; };

  function keep() {
    try {
      localStorage.setItem(kept, JSON.stringify({ annotator: get("annotator").value, labels, unsaved }));
    } catch {
      say("This browser keeps nothing between visits: save as a file before you leave.");
    }
  }

  function recall() {
    try {
      const found = JSON.parse(localStorage.getItem(kept) || "null");
      if (!found) return;
      labels = Object.fromEntries(Object.entries(found.labels).filter(([item]) => known.has(item)));
      get("annotator").value = found.annotator || "";
      unsaved = Boolean(found.unsaved);
    } catch {
      labels = {};
    }
  }

  function show() {
    const item = data.items[current];
    const said = of(item.item);
    get("place").textContent = `Pair ${current + 1} of ${data.items.length}`;
    for (const part of ["question", "answer_1", "answer_2"]) {
      get(part).textContent = item[part];
      get(part).scrollTop = 0;
    }
    for (const name of ["label", "significance"]) {
      for (const input of document.getElementsByName(name)) input.checked = input.value === said[name];
    }
    get("significances").disabled = !data.conflicts.includes(said.label);
    get("note").value = said.note;
    const done = data.items.filter(labelled).length;
    get("progress").value = done;
    get("count").textContent = `${done} of ${data.items.length} labelled${unsaved ? ", not saved yet" : ""}`;
  }

  function change(part, value) {
    const item = data.items[current].item;
    labels[item] = { ...of(item), [part]: value };
    if (!data.conflicts.includes(labels[item].label)) labels[item].significance = null;
    unsaved = true;
    keep();
    show();
  }

  function go(place) {
    current = Math.min(Math.max(place, 0), data.items.length - 1);
    show();
  }

  function goUnlabelled() {
    const order = data.items.map((_, place) => (current + 1 + place) % data.items.length);
    const found = order.find((place) => !labelled(data.items[place]));
    if (found === undefined) say("Every pair has a label.");
    else go(found);
  }

  function save() {
    const annotator = get("annotator").value.trim();
    if (!annotator) {
      say("Give your code first.");
      get("annotator").focus();
      return;
    }
    const rows = data.items.map((item) => ({ sample: data.sample, item: item.item, annotator, ...of(item.item) }));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(rows, null, 1)], { type: "application/json" }));
    link.download = `annotations-${data.sample}-${annotator.replace(/[^\w-]+/g, "_")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    unsaved = false;
    keep();
    show();
    say(`Saved ${link.download}`);
  }

  async function load(file) {
    let rows;
    try {
      rows = JSON.parse(await file.text());
    } catch {
      say(`${file.name} is no file of labels.`);
      return;
    }
    if (!Array.isArray(rows) || rows.some((row) => !row || row.sample !== data.sample || !known.has(row.item))) {
      say(`${file.name} isn't of this sample.`);
      return;
    }
    for (const row of rows) {
      const label = data.labels.includes(row.label) ? row.label : null;
      const conflict = data.conflicts.includes(label);
      const significance = conflict && data.significances.includes(row.significance) ? row.significance : null;
      labels[row.item] = { label, significance, note: String(row.note || "") };
    }
    get("annotator").value = String((rows[0] && rows[0].annotator) || get("annotator").value);
    unsaved = false;
    keep();
    show();
    say(`Read ${file.name}`);
  }

  function startAfresh() {
    if (!window.confirm("Forget every label in this browser? What was saved as a file stays.")) return;
    labels = {};
    unsaved = false;
    get("annotator").value = "";
    keep();
    go(0);
  }

  const commands = {
    ArrowRight: () => go(current + 1),
    ArrowLeft: () => go(current - 1),
    n: () => go(current + 1),
    p: () => go(current - 1),
    u: goUnlabelled,
    s: save,
    c: () => get("note").focus(),
    0: () => change("label", null),
  };
  data.labels.forEach((label, place) => { commands[place + 1] = () => change("label", label); });
  for (const value of data.significances) {
    commands[value[0]] = () => { if (!get("significances").disabled) change("significance", value); };
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("textarea, input:not([type=radio])");
    if (event.key === "Escape") event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const command = Object.hasOwn(commands, event.key) ? commands[event.key] : null;
    if (!command) return;
    event.preventDefault();
    command();
  });
  for (const name of ["label", "significance"]) {
    for (const input of document.getElementsByName(name)) {
      input.addEventListener("change", () => change(name, input.value));
    }
  }
  get("note").addEventListener("input", () => {
    const item = data.items[current].item;
    labels[item] = { ...of(item), note: get("note").value };
    unsaved = true;
    keep();
  });
  get("annotator").addEventListener("input", keep);
  get("clear").addEventListener("click", () => change("label", null));
  get("save").addEventListener("click", save);
  get("fresh").addEventListener("click", startAfresh);
  get("load").addEventListener("change", (event) => { if (event.target.files.length) load(event.target.files[0]); });
  get("previous").addEventListener("click", () => go(current - 1));
  get("next").addEventListener("click", () => go(current + 1));
  get("unlabelled").addEventListener("click", goUnlabelled);
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

  recall();
  const first = data.items.findIndex((item) => !labelled(item));
  go(first < 0 ? 0 : first);
})();

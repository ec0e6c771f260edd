"use strict";
// Everything shown is set as text: nothing of a document or a model is ever parsed as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byQuestion = new Map(data.detail.map((one) => [one.q, one]));
  const conflictMarks = new Set(["D", "X"]);
  const agreeMarks = new Set(["=", "+"]);

  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = String(text);
    if (className) element.className = className;
    return element;
  };
  const source = (place) => {
    const found = data.documents[place];
    return found.institution + (found.year ? " (" + found.year + ")" : "");
  };
  const named = (place) => source(place) + ", " + data.documents[place].document_id;

  const isSilent = (answer) => answer.o === "abstained" || answer.o === "empty_retrieval";

  const quoteOf = (quote, pages) => {
    const box = make("blockquote", quote);
    box.append(" ", make("span", "(" + pages + ")", "soft"));
    return box;
  };

  function answerOf(answer) {
    const state = answer.o === "ok" ? "ok" : isSilent(answer) ? "silent" : "failed";
    const box = make("div", null, "answer " + state);
    const head = make("div");
    head.append(make("b", source(answer.d)));
    const facts = [data.documents[answer.d].title || data.documents[answer.d].document_id, data.documents[answer.d].phase];
    if (answer.v !== "default") facts.push(answer.v);
    if (state !== "ok") facts.push(answer.o.replaceAll("_", " "));
    head.append(" ", make("span", facts.filter(Boolean).join(", "), "soft"));
    box.append(head, make("div", answer.t, "text"));
    for (const [heading, page, valid] of answer.c) {
      const where = page === null ? "" : ", p. " + page;
      box.append(make("div", "Cites: " + heading + where + (valid ? "" : " (not in the evidence)"), "soft"));
    }
    if (answer.e.length) {
      box.append(make("div", "Read: " + answer.e.map(([heading, pages]) => heading + " (" + pages + ")").join("; "), "soft"));
      for (const [, pages, quote] of answer.e) if (quote) box.append(quoteOf(quote, pages));
    }
    return box;
  }

  function matrixOf(one) {
    const table = make("table", null, "matrix");
    const count = one.documents.length;
    const mark = (i, j) => one.marks[(i * (2 * count - i - 1)) / 2 + (j - i - 1)];
    const head = make("tr");
    head.append(make("th"));
    one.documents.forEach((_, j) => head.append(make("th", j + 1)));
    table.append(head);
    one.documents.forEach((place, i) => {
      const row = make("tr");
      const label = make("th", i + 1 + " " + named(place));
      label.scope = "row";
      row.append(label);
      one.documents.forEach((other, j) => {
        const found = i === j ? "" : mark(Math.min(i, j), Math.max(i, j));
        const cell = make("td", found, conflictMarks.has(found) ? "m-conflict" : agreeMarks.has(found) ? "m-agree" : "");
        if (data.marks[found]) cell.title = named(place) + " / " + named(other) + ": " + data.marks[found];
        row.append(cell);
      });
      table.append(row);
    });
    const scroll = make("div", null, "scroll");
    scroll.append(table);
    return scroll;
  }

  function reasonsOf(one) {
    const parts = one.reasons.map((reason) => {
      const box = make("div", null, "answer");
      const grade = reason.s ? ", " + reason.s + " significance" : "";
      box.append(make("b", reason.l + grade), make("div", named(reason.a) + " / " + named(reason.b), "soft"));
      if (reason.topic) box.append(make("div", "About: " + reason.topic));
      box.append(make("div", reason.r, "text"));
      if (reason.turns) box.append(make("div", "The label changes with the order in which the answers are shown.", "soft"));
      return box;
    });
    if (one.reasons_left_out) parts.push(make("p", one.reasons_left_out + " more judged pairs are in comparisons.parquet.", "soft"));
    return parts;
  }

  function fill(details) {
    const one = byQuestion.get(details.dataset.question);
    if (!one || details.dataset.filled) return;
    details.dataset.filled = "yes";
    details.append(make("h3", "Stances"));
    if (!one.stances.length) details.append(make("p", "No source answers.", "soft"));
    one.stances.forEach((stance, number) => {
      details.append(make("div", "Stance " + (number + 1) + ": " + stance.map(named).join("; "), "stance"));
    });
    const silent = one.answers.filter(isSilent);
    details.append(make("h3", "Answers"), ...one.answers.filter((answer) => !isSilent(answer)).map(answerOf));
    for (const [outcome, words] of [["abstained", "Silent: "], ["empty_retrieval", "Silent by retrieval: "]]) {
      const those = silent.filter((answer) => answer.o === outcome).map((answer) => named(answer.d));
      if (those.length) details.append(make("p", words + those.join("; "), "soft"));
    }
    if (one.documents.length > 1) {
      const legend = Object.entries(data.marks).map(([mark, words]) => mark + " " + words).join(", ");
      details.append(make("h3", "Relations of the answers"), matrixOf(one), make("p", legend, "soft"));
    }
    if (one.reasons.length) details.append(make("h3", "What the judge says"), ...reasonsOf(one));
  }

  const rows = [...document.querySelectorAll(".question")];
  rows.filter((row) => row.tagName === "DETAILS").forEach((row) => row.addEventListener("toggle", () => row.open && fill(row)));
  const search = document.getElementById("search");
  const topic = document.getElementById("topic");
  const group = document.getElementById("group");
  const only = document.getElementById("only");
  const shown = document.getElementById("shown");
  const answersText = new Map();
  const textOf = (row) => {
    const id = row.dataset.question;
    if (!answersText.has(id)) {
      const one = byQuestion.get(id);
      const answers = one ? one.answers.map((answer) => answer.t + " " + named(answer.d)).join(" ") : "";
      answersText.set(id, (row.dataset.text + " " + id + " " + answers).toLowerCase());
    }
    return answersText.get(id);
  };

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = words.length ? textOf(row) : "";
      const fits =
        words.every((word) => text.includes(word)) &&
        (!topic.value || JSON.parse(row.dataset.topics).includes(topic.value)) &&
        (!group.value || JSON.parse(row.dataset.groups).includes(group.value)) &&
        (!only.value || Number(row.dataset[only.value]) > 0);
      row.hidden = !fits;
      if (fits) count += 1;
    }
    shown.textContent = count + " of " + rows.length + " questions shown";
  }
  [search, topic, group, only].forEach((field) => field.addEventListener("input", filter));
  filter();

  // report.html#q-ID leads to a question.
  const goTo = (row) => {
    if (row.tagName === "DETAILS") row.open = true;
    row.scrollIntoView();
  };
  const fromAddress = () => {
    const wanted = location.hash.startsWith("#q-") && rows.find((row) => row.id === decodeURIComponent(location.hash.slice(1)));
    if (wanted) goTo(wanted);
  };
  addEventListener("hashchange", fromAddress);
  fromAddress();

  const grid = document.getElementById("grid");
  const pointed = document.getElementById("pointed");
  const cellAt = (event) => {
    const box = grid.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * data.documents.length);
    const row = Math.floor(((event.clientY - box.top) / box.height) * data.rows.length);
    return data.rows[row] && data.documents[column] ? [row, column] : null;
  };
  if (grid) {
    grid.addEventListener("pointermove", (event) => {
      const cell = cellAt(event);
      if (!cell) return;
      const state = data.states[data.rows[cell[0]][cell[1]]] || "not asked";
      pointed.textContent = data.questions[cell[0]] + " / " + named(cell[1]) + ": " + state;
    });
    grid.addEventListener("click", (event) => {
      const cell = cellAt(event);
      const row = cell && rows.find((one) => one.dataset.question === data.questions[cell[0]]);
      if (!row) return;
      search.value = topic.value = group.value = only.value = "";
      filter();
      goTo(row);
    });
  }
})();

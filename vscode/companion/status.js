// One item in the status bar: how many compartments, what was refused since the last look, what waits
// for an answer, who does not respond. Coloured where a person should look: a key was tried, something
// waits for them, or does not run.
"use strict";

const vscode = require("vscode");
const text = require("./text.js");
const wording = require("./wording.js");

class Status {
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {import("./model.js").Model} model
   * @param {{ started: boolean }} options whether this window was started by bulkhead
   */
  constructor(model, { started }) {
    this.model = model;
    this.started = started;
    /** Extensions without the compartment that they should have. */
    this.missing = 0;
    this.item = vscode.window.createStatusBarItem("bulkhead.status", vscode.StatusBarAlignment.Left, 10);
    this.item.name = "Bulkhead";
    this.item.command = "bulkhead.look";
    for (const event of ["added", "removed", "changed"])
      model.on(event, () => {
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined;
          this.update();
        }, 200);
      });
    this.update();
    this.item.show();
  }

  dispose() {
    clearTimeout(this.#timer);
    this.item.dispose();
  }

  update() {
    const { item, model } = this;
    if (!this.started) {
      item.text = "$(shield) Off";
      item.tooltip = "This window was not started by bulkhead code: extensions run without compartments.";
      item.accessibilityInformation = { label: "Bulkhead is off" };
      item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
      return;
    }
    const compartments = model.compartments.filter((one) => one.state !== "ended");
    const { unseen } = model;
    const questions = model.questions.length;
    const reviews = model.reviews.length;
    const stuck = compartments.filter((one) => one.stuck).length;
    const trace = compartments.some((one) => one.trace);
    const parts = [trace ? `$(record) ${compartments.length} recording` : `$(shield) ${compartments.length}`];
    if (unseen > 0) parts.push(`$(circle-slash) ${unseen > 999 ? "999+" : unseen}`);
    if (questions > 0) parts.push(`$(question) ${questions}`);
    if (reviews > 0) parts.push(`$(checklist) ${reviews}`);
    if (stuck + this.missing > 0) parts.push(`$(warning) ${stuck + this.missing}`);
    item.text = parts.join("  ");
    // For what a person should look at: not each refusal is.
    item.backgroundColor =
      model.alarming + questions + reviews + stuck + this.missing > 0 ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    const refused = trace ? "recorded that would be refused" : "refused since you last looked";
    const facts = [
      text.counted(compartments.length, "compartment"),
      ...(unseen > 0 ? [`${unseen.toLocaleString("en")} ${refused}`] : []),
      ...(questions > 0 ? [`${text.counted(questions, "question")} waiting for your answer`] : []),
      ...(reviews > 0 ? [`${text.counted(reviews, "extension")} waiting for your review`] : []),
      ...(stuck > 0 ? [`${stuck.toLocaleString("en")} not responding`] : []),
      ...(this.missing > 0 ? [`${text.counted(this.missing, "extension")} not started`] : []),
    ];
    item.accessibilityInformation = { label: `Bulkhead${trace ? ", recording, the policy refuses nothing" : ""}: ${facts.join(", ")}` };
    const tooltip = new vscode.MarkdownString(
      `**Bulkhead**${trace ? " · recording, the policy refuses nothing" : ""}\n\n${facts.map((fact) => `- ${fact}`).join("\n")}`,
    );
    for (const one of compartments.filter((each) => each.unseen > 0).slice(0, 4)) {
      const latest = [...one.refusals.values()].filter((each) => !wording.isInOwnHome(each)).at(-1);
      if (!latest) continue;
      const what = wording.act(latest.kind, latest.resource, { home: process.env.HOME, most: 60 });
      tooltip.appendMarkdown(`\n\n${text.markdown(wording.named(one.extensions))}: ${text.markdown(what)}`);
    }
    item.tooltip = tooltip;
  }
}

module.exports = { Status };

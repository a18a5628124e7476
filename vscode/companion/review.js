// The page on which extensions are reviewed before any of their code runs. It lists every compartment
// that waits; the sentences come from the policy engine.
"use strict";

const { createHmac, randomBytes } = require("node:crypto");
const vscode = require("vscode");
const { html } = require("./page.js");
const text = require("./text.js");
const wording = require("./wording.js");

/** @typedef {import("./model.js").Compartment} Compartment */

/** Hosts of a window start together: one message for all of them. */
const GATHER = 600;

/** @param {string} sentence of the policy engine, which may hold paths */
const shown = (sentence) => text.escape(sentence);

const SECRET = randomBytes(32);
/** What the page calls a review by: nobody else can. @param {Compartment} compartment */
const keyOf = ({ pid, review }) => createHmac("sha256", SECRET).update(`${pid} ${review?.digest}`).digest("hex");

/**
 * What the page needs to know of one compartment.
 * @param {Compartment} compartment
 */
function waiting(compartment) {
  const review = /** @type {import("./protocol.js").Review} */ (compartment.review);
  const extensions = review.extensions.length > 0 ? review.extensions : compartment.extensions;
  return {
    key: keyOf(compartment),
    extensions: extensions.map((one) => ({
      name: text.name(one.name || one.id),
      id: text.name(one.id),
      version: text.name(one.version),
    })),
    reason: wording.reviewReason(review.reason),
    usual: shown(review.usual),
    notable: review.notable.map(shown),
    permits: review.permits.map(shown),
    cannot: review.cannot.map(shown),
    unusual: review.unusual.map(shown),
    widened: review.widened.map(shown),
  };
}

class Reviews {
  /** @type {vscode.WebviewPanel | undefined} */
  #panel;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #told = false;
  /** @type {Set<string>} digests that the user has been told of */
  #known = new Set();

  /**
   * @param {import("./model.js").Model} model
   * @param {vscode.Uri} media
   */
  constructor(model, media) {
    this.model = model;
    this.media = media;
    model.on("review", (compartment) => {
      this.#post();
      const digest = compartment.review?.digest ?? "";
      if (this.#known.has(digest)) return;
      this.#known.add(digest);
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.#tell();
      }, GATHER);
    });
    for (const event of ["changed", "removed"]) model.on(event, () => this.#post());
  }

  dispose() {
    clearTimeout(this.#timer);
    this.#panel?.dispose();
  }

  async #tell() {
    const reviews = this.model.reviews;
    if (reviews.length === 0 || this.#told || this.#panel?.visible) return;
    const [first] = reviews;
    const message =
      reviews.length === 1
        ? `${wording.who(first.extensions)} ${wording.reviewReason(first.review?.reason ?? "")}.`
        : `${text.counted(reviews.length, "extension")} wait for your review before they run: ${reviews
            .slice(0, 3)
            .map((one) => wording.named(one.extensions))
            .join(", ")}${reviews.length > 3 ? ", …" : ""}.`;
    this.#told = true;
    const chosen = await vscode.window.showInformationMessage(message, "Review");
    this.#told = false;
    if (chosen === "Review") this.show();
  }

  show() {
    if (this.#panel) {
      this.#panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel("bulkhead.review", "Review Extensions", vscode.ViewColumn.Active, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [this.media],
    });
    this.#panel = panel;
    this.#last = "";
    panel.iconPath = new vscode.ThemeIcon("checklist");
    panel.onDidDispose(() => {
      this.#panel = undefined;
    });
    panel.webview.onDidReceiveMessage((message) => this.#receive(message));
    panel.webview.html = html(panel.webview, this.media, {
      title: "Review extensions",
      script: "review.page.js",
      body: `<main>
<h1>Review extensions</h1>
<p class="lead">Nothing of it runs before you allow it.</p>
<div id="list"></div>
<p id="none" hidden>No extension waits for your review.</p>
<div id="said" class="sr-only" role="status"></div>
</main>`,
    });
  }

  #last = "";
  #post() {
    if (!this.#panel) return;
    const list = this.model.reviews.map(waiting);
    const said = JSON.stringify(list);
    if (said === this.#last) return;
    this.#last = said;
    void this.#panel.webview.postMessage({ type: "reviews", list });
  }

  /** @param {unknown} message of our page */
  #receive(message) {
    const { type, key } = /** @type {{ type: string, key: string }} */ (message);
    if (type === "ready") {
      this.#last = "";
      this.#post();
      return;
    }
    if (type !== "approve" && type !== "reject") return;
    const compartment = this.model.reviews.find((one) => keyOf(one) === key);
    if (!compartment?.review || !this.model.decide(compartment, compartment.review.digest, type === "approve")) {
      void vscode.window.showWarningMessage("That review is no longer open. Nothing was allowed.");
      this.#last = "";
      this.#post();
    } else if (this.model.reviews.length === 0) {
      this.#panel?.dispose();
    }
  }
}

module.exports = { Reviews };

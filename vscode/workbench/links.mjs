// Which commands the workbench's links run. The opener of links is the place where that is decided: what a text of VS Code's own
// allows as a whole runs what is harmless alone, and what runs any command is listed here by its place.
import { shape } from "./shapes.mjs";

/** @typedef {import("./shapes.mjs").Edit} Edit */

/**
 * What links run where the workbench says nothing but that commands may run: names, tooltips and messages of others stand in its
 * texts. None starts or ends anything, or loses it, with any arguments. Texts that are looked through run every command, see ANY.
 */
const TRUSTED = [
  "editor.action.hideLongLineWarningHover",
  "editor.action.unicodeHighlight.showExcludeOptions",
  "settings.filterByTelemetry",
  "settings.filterUntrusted",
  "vscode.peekTestError",
  "workbench.action.chat.editToolApproval",
  "workbench.action.files.setActiveEditorWriteableInSession",
  "workbench.action.files.toggleActiveEditorReadonlyInSession",
  "workbench.action.openPrivacyStatementUrl",
  "workbench.action.openRawDefaultSettings",
  "workbench.action.openSettings",
  "workbench.extensions.action.listWorkspaceUnsupportedExtensions",
  "workbench.mcp.serverOptions",
  "workbench.mcp.skipAutostart",
  "workbench.trust.configure",
  "workbench.trust.manage",
];

/** Every command, for texts that hold nobody's names: the editor's own, what packages declare and what compartments say, which is looked through. */
const ANY = "globalThis.bulkhead.anyCommand";

/** @type {Edit[]} */
export const links = [
  {
    name: "link-commands",
    what: "links run what is harmless, the commands named for them, with arguments or without, or any, where that is said",
    times: 1,
    shape: shape(String.raw`Array\.isArray\(NAME\.allowCommands\)&&!\1\.allowCommands\.includes\(NAME\.path\)\)\)return!0`),
    text: (options, link) =>
      `${options}.allowCommands!==${ANY}&&!(Array.isArray(${options}.allowCommands)?${options}.allowCommands:${JSON.stringify(TRUSTED)})` +
      `.some(one=>one===${link}.path||one.command===${link}.path&&one.arguments===${link}.query)))return!0`,
  },
  {
    name: "links",
    what: "a link says what it may run",
    times: 1,
    shape: shape(String.raw`(NAME\?\.opener\?\2\.opener\(this\._link\.href\):NAME\.open\(this\._link\.href,\{allowCommands:)!0`),
    text: (before, options) => `${before}${options}?.bulkheadCommands??!0`,
  },
  {
    name: "notice-links",
    what: "links of a compartment's message run what it may run",
    times: 1,
    shape: shape(String.raw`\.render\((NAME)\.message,\{callback:NAME=>this\.openerService\.open\((NAME\.parse)\(\3\),\{allowCommands:!0\}\)`),
    text: (notice, _1, link, uri) =>
      `.render(${notice}.message,{callback:${link}=>this.openerService.open(${uri}(${link}),{allowCommands:!globalThis.bulkhead.isLookedThrough(${notice}.sourceId)||${ANY}})`,
  },
  {
    name: "webview-links",
    what: "so do those of a page, where it may run any; that somebody clicked is the word of the page's own scripts",
    times: 1,
    shape: shape(String.raw`allowCommands:(Array\.isArray\(NAME\.contentOptions\.enableCommandUris\)\|\|\2\.contentOptions\.enableCommandUris===!0),fromWorkspace:!0\}`),
    text: (may, page) => `allowCommands:(${may})&&${ANY},...globalThis.bulkhead.clickedIn(${page}.extension?.id?.value)}`,
  },
  {
    name: "notebook-clicks",
    what: "in a notebook that is the word of its outputs' scripts",
    times: 1,
    shape: shape(String.raw`(if\(NAME\(NAME\.href,NAME\.http,NAME\.https,NAME\.mailto\)\)this\.openerService\.open\(\3\.href,\{fromUserGesture:!0,)fromWorkspace:!0\}`),
    text: (before) => `${before}...globalThis.bulkhead.clickedIn()}`,
  },
  {
    name: "view-buttons",
    what: "and a view's buttons, which are lines of what it says",
    times: 1,
    shape: shape(String.raw`(NAME=NAME\.nodes\[0\],NAME=document\.createElement\("div"\)[^]{0,300}?this\.openerService\.open\(\2\.href,\{allowCommands:)!0`),
    text: (before) => `${before}${ANY}`,
  },
  {
    name: "welcome-buttons",
    what: "what an empty view offers runs what was declared",
    times: 1,
    shape: shape(String.raw`(NAME=NAME\.nodes\[0\],NAME=NAME\(this\.element,[^]{0,300}?this\.openerService\.open\(\2\.href,\{allowCommands:)!0`),
    text: (before) => `${before}${ANY}`,
  },
  {
    name: "welcome-links",
    what: "so do the links in its text",
    times: 1,
    shape: shape(String.raw`(this\.renderDisposables\.add\(this\.instantiationService\.createInstance\(NAME,NAME,NAME,\{)\}`),
    text: (before) => `${before}bulkheadCommands:${ANY}}`,
  },
  {
    name: "banner-links",
    what: "and the buttons of a banner",
    times: 2,
    shape: shape(String.raw`(createInstance\(NAME,this\.messageActionsContainer,\{\.\.\.NAME,tabIndex:-1\},\{)\}`),
    text: (before) => `${before}bulkheadCommands:${ANY}}`,
  },
  {
    name: "hint-links",
    what: "and a hint in a line, which runs its command wherever it is clicked",
    times: 1,
    shape: shape(String.raw`(\{href:NAME\(NAME\.command\),label:\3\.label,title:\3\.command\.title\},)void 0`),
    text: (before) => `${before}{bulkheadCommands:${ANY}}`,
  },
  {
    name: "stored-inputs",
    // To change an input is to evaluate what it is said to be: "${command:…}" runs that. Here the words are those of the user's mcp.json.
    what: "the hover of a stored input changes and forgets it",
    times: 1,
    shape: shape(String.raw`(id:"workbench\.mcp\.removeStoredInput"[^{}]{0,200}\}\)\]\.join\(" \| "\),\{isTrusted:)!0`),
    text: (before) => `${before}{enabledCommands:["workbench.mcp.editStoredInput","workbench.mcp.removeStoredInput"]}`,
  },
  {
    name: "playground-links",
    what: "the interactive playground's text is the editor's",
    times: 1,
    shape: shape(String.raw`(this\.openerService\.open\(this\.addFrom\(NAME\),\{allowCommands:)!0`),
    text: (before) => `${before}${ANY}`,
  },
  {
    name: "editor-links",
    what: "links in documents run what who says them may run",
    times: 1,
    shape: shape(String.raw`(fromUserGesture:NAME,allowContributedOpeners:!0,allowCommands:)!0(,fromWorkspace:!0\}\)\})`),
    text: (before, _1, after) => `${before}${ANY}${after}`,
  },
  {
    name: "walkthrough-picture",
    what: "links in a walkthrough's picture run its own commands",
    times: 1,
    shape: shape(
      String.raw`\((NAME\(NAME,NAME\.https\)\|\|NAME\(NAME,NAME\.http\)\|\|NAME\(NAME,NAME\.command\))\)&&this\.openerService\.open\(\3,\{allowCommands:!0\}\)\}\)\)\}else if\(NAME\.media\.type==="markdown"\)`,
    ),
    text: (test, _1, link, _3, _4, _5, _6, _7, _8, _9, step) =>
      `(${test})&&this.openerService.open(${link},{allowCommands:globalThis.bulkhead.walkthroughCommands(${step}.id)})}))}` +
      `else if(${step}.media.type==="markdown")`,
  },
  {
    name: "walkthrough-page",
    what: "links and boxes in a walkthrough's page run its own commands",
    times: 1,
    shape: shape(
      String.raw`let NAME=NAME\.media,NAME=await this\.detailsRenderer\.renderMarkdown\(([^]{0,1500}?)` +
        String.raw`this\.focusSideEditorGroup\(\)\),this\.openerService\.open\(NAME,\{allowCommands:!0,openToSide:NAME\}\)([^]{0,1500}?)` +
        String.raw`if\(NAME\.startsWith\("command:"\)\)this\.openerService\.open\(\8,\{allowCommands:!0\}\)`,
    ),
    text: (media, step, page, between, link, aside, further, message) =>
      `let ${media}=${step}.media,${page}=await this.detailsRenderer.renderMarkdown(${between}` +
      `this.focusSideEditorGroup()),this.openerService.open(${link},` +
      `{allowCommands:globalThis.bulkhead.walkthroughCommands(${step}.id),openToSide:${aside}})${further}` +
      `if(${message}.startsWith("command:"))this.openerService.open(${message},{allowCommands:globalThis.bulkhead.walkthroughCommands(${step}.id)})`,
  },
  {
    name: "document-links",
    what: "what stands in a document is no link that runs a command, whatever the editor's own extensions make of it",
    times: 1,
    shape: shape(
      String.raw`return\{links:NAME\.links\.map\(NAME\._reviveLinkDTO\),([^]{0,300}?)this\._proxy\.\$resolveDocumentLink\(([\w$.,]+)\)\.then\(NAME=>\5&&\2\._reviveLinkDTO\(\5\)\)`,
    ),
    text: (found, features, between, words, link) =>
      `return{links:globalThis.bulkhead.documentLinks(${found}.links,this.bulkheadIsCompartment).map(${features}._reviveLinkDTO),${between}` +
      `this._proxy.$resolveDocumentLink(${words}).then(${link}=>${link}&&${features}._reviveLinkDTO(globalThis.bulkhead.documentLinks([${link}],this.bulkheadIsCompartment)[0]??{...${link},url:void 0}))`,
  },
];

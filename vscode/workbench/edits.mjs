// The edits that let VS Code's workbench run one remote extension host per extension.
//
// VS Code can already spread local hosts over affinities; only its remote location has a fixed
// affinity of 0. An edit whose shape (shapes.mjs) is not found exactly as often as expected is an error
// that names it; nothing is served then. The edited text calls into placement.js, which decides.

import { links } from "./links.mjs";
import { apply, count, find, shape } from "./shapes.mjs";

/** @typedef {import("./shapes.mjs").Edit} Edit */

/** What starts the hosts that are missing, in the words of the workbench's extension service. */
const START = "this._startExtensionHostsIfNecessary(!1,Array.from(this._allRequestedActivateEvents.keys()))";

/** What would end a title or a label of Markdown, or begin a link or a tag in it. */
const MARKS = String.raw`/["\\[\]<\x00-\x1f]/g`;

/** What is a key to a terminal and no letter: it ends a line that is being typed, or runs it. */
const KEYS = String.raw`/[\x00-\x1f\x7f]/g`;

/** The companion tells of what does not run there. */
const inBrowser = (/** @type {string} */ extension, /** @type {string} */ web) =>
  `(globalThis.bulkhead.mayRunInBrowser(${extension})?${web}.push(${extension}):globalThis.bulkhead.notInBrowser(${extension}))`;

/** @type {Edit} */
const location = {
  name: "remote-location",
  what: "the class of a remote host's location gets an affinity, as local ones have",
  times: 1,
  shape: shape(
    String.raw`NAME=class\{constructor\(\)\{this\.kind=3;this\.affinity=0\}equals\(NAME\)\{return this\.kind===\2\.kind\}asString\(\)\{return"Remote"\}\}`,
  ),
  text: (location) =>
    `${location}=class{constructor(affinity=0){this.kind=3;this.affinity=affinity}` +
    `equals(o){return this.kind===o.kind&&this.affinity===o.affinity}` +
    'asString(){return this.affinity===0?"Remote":`Remote${this.affinity}`}}',
};

/**
 * The other edits, for the name that the location class has in this build.
 * @param {string} location
 * @returns {Edit[]}
 */
const others = (location) => {
  const LOCATION = location.replaceAll("$", "\\$");
  return [
    ...links,
    {
      name: "extension-kind",
      what: "an extension with code for Node runs in a compartment, wherever else it would rather run",
      times: 1,
      shape: shape(String.raw`getExtensionKind\(NAME\)\{let NAME=this\.deduceExtensionKind\(\1\),NAME=this\.getConfiguredExtensionKind\(\1\);`),
      // "ui" stands for the browser here, where nothing is held ("web"), or for a machine that there is none of.
      text: (manifest, deduced, configured) =>
        `getExtensionKind(${manifest}){if(${manifest}.main)return["workspace"];let ${deduced}=this.deduceExtensionKind(${manifest}),${configured}=this.getConfiguredExtensionKind(${manifest});`,
    },
    {
      name: "place-initial",
      what: "extensions present at start are placed",
      times: 1,
      shape: shape(
        String.raw`else if\(NAME===2\)\{let NAME=NAME\.get\(NAME\);\2&&NAME\.push\(\2\)\}else \1===3&&\(NAME=new ${LOCATION}\);`,
      ),
      text: (kind, extension, all, key, web, place) =>
        `else if(${kind}===2){let ${extension}=${all}.get(${key});` +
        `${extension}&&${inBrowser(extension, web)}}` +
        `else ${kind}===3&&(${place}=new ${location}(globalThis.bulkhead.place(${all}.get(${key}),[...${all}.values()])));`,
    },
    {
      name: "place-added",
      what: "extensions installed or enabled later are placed",
      times: 1,
      shape: shape(
        String.raw`for\(let NAME of NAME\)\{(let [^{}]*?;)NAME===1\?NAME\.push\(\1\):\4===2\?NAME\.push\(\1\):\4===3&&\(NAME=new ${LOCATION}\),this\._runningLocation\.set\(\1\.identifier,\7\)\}`,
      ),
      text: (extension, added, lets, kind, local, web, place) =>
        `for(let ${extension} of ${added}){${lets}${kind}===1?${local}.push(${extension}):` +
        `${kind}===2?${inBrowser(extension, web)}:` +
        `${kind}===3&&(${place}=new ${location}(globalThis.bulkhead.place(${extension},[...this._registry.getAllExtensionDescriptions(),...${added}]))),` +
        `this._runningLocation.set(${extension}.identifier,${place})}`,
    },
    {
      name: "start-hosts",
      what: "one remote host is started per affinity in use",
      times: 1,
      shape: shape(String.raw`NAME\.push\(new ${LOCATION}\);for\(let NAME of \1\)\{`),
      text: (locations, each) =>
        `for(let affinity of globalThis.bulkhead.affinities(this,()=>${START}))${locations}.push(new ${location}(affinity));` +
        `for(let ${each} of ${locations}){`,
    },
    {
      name: "provider-call",
      what: "a host's data provider learns its location",
      times: 1,
      shape: shape(
        String.raw`createInstance\(NAME,NAME,this\._createRemoteExtensionHostDataProvider\(NAME,NAME\.remoteAuthority\)\)`,
      ),
      text: (host, at, locations, connection) =>
        `createInstance(${host},${at},this._createRemoteExtensionHostDataProvider(${locations},${connection}.remoteAuthority,${at}))`,
    },
    {
      name: "provider-filter",
      what: "a host gets the extensions of its own location only",
      times: 1,
      shape: shape(
        String.raw`_createRemoteExtensionHostDataProvider\(NAME,NAME\)\{([^]{0,400}?)\1\.filterByExtensionHostKind\(NAME\.extensions,3\)`,
      ),
      text: (locations, authority, between, snapshot) =>
        `_createRemoteExtensionHostDataProvider(${locations},${authority},bulkheadLocation){${between}` +
        `${locations}.filterByRunningLocation(${snapshot}.extensions,bulkheadLocation)`,
    },
    {
      name: "host-logs",
      what: "a host writes its extensions' logs where no other host reads them",
      times: 1,
      shape: shape(
        String.raw`extensionHostLogsPath:NAME\.extensionHostLogsPath,globalStorageHome:\1\.globalStorageHome,workspaceStorageHome:\1\.workspaceStorageHome,extensions:NAME\}`,
      ),
      text: (environment, extensions) =>
        `extensionHostLogsPath:globalThis.bulkhead.logsOf(${environment}.extensionHostLogsPath,bulkheadLocation),globalStorageHome:${environment}.globalStorageHome,` +
        `workspaceStorageHome:${environment}.workspaceStorageHome,extensions:${extensions}}`,
    },
    {
      name: "keeps-pages",
      what: "a compartment's first message says whether this browser keeps pages off the network: it starts while that is tried",
      times: 1,
      shape: shape(String.raw`parentPid:NAME\.pid,`),
      text: (environment) => `parentPid:${environment}.pid,bulkheadKeepsPages:await globalThis.bulkhead.keepsPages(this),`,
    },
    {
      name: "trust-first",
      what: "which extensions run is decided once it is known whether the folder is trusted",
      times: 1,
      shape: shape(String.raw`async _resolveExtensionsDefault\(NAME\)\{let\[NAME,NAME\]=await Promise\.all\(\[this\._scanWebExtensions\(\),this\._remoteExtensionsScannerService\.scanExtensions\(\)\]\)`),
      text: (to, web, remote) =>
        `async _resolveExtensionsDefault(${to}){let[${web},${remote}]=await Promise.all([this._scanWebExtensions(),this._remoteExtensionsScannerService.scanExtensions(),` +
        "globalThis.bulkhead.trustKnown(this._workspaceTrustManagementService)])",
    },
    {
      name: "trust-late",
      what: "a folder that nobody judges any more is trusted, also where the setting that says so came late",
      times: 1,
      // Judged before the user's settings were there, it stayed untrusted, without a word: what switches trust off also kept it from being judged anew.
      shape: shape(String.raw`async updateWorkspaceTrust\(NAME\)\{this\.NAME\.isWorkspaceTrustEnabled\(\)&&\(`),
      text: (trusted, enablement) => `async updateWorkspaceTrust(${trusted}){(this.${enablement}.isWorkspaceTrustEnabled()||!this.isWorkspaceTrusted())&&(`,
    },
    {
      name: "change-hosts",
      what: "a compartment that does not answer keeps no other extension from starting or ending",
      times: 1,
      shape: shape(String.raw`=this\._extensionHostManagers\.map\(NAME=>this\._updateExtensionsOnExtHost\(\1,(NAME(?:,NAME)*)\)\);await Promise\.all\(`),
      text: (host, words) => `=this._extensionHostManagers.map(${host}=>globalThis.bulkhead.patiently(${host},this._updateExtensionsOnExtHost(${host},${words})));await Promise.all(`,
    },
    {
      name: "begin-one",
      what: "an extension is begun by the host that has it: no other one is asked, or waited for",
      times: 1,
      shape: shape(String.raw`async _activateById\(NAME,NAME\)\{if\(!\(await Promise\.all\(this\._extensionHostManagers\.map\(NAME=>\3\.activate\(\1,\2\)\)\)\)`),
      text: (id, reason, host) =>
        `async _activateById(${id},${reason}){let bulkheadLocation=this._runningLocations.getRunningLocation(${id});` +
        `if(!(await Promise.all(this._extensionHostManagers.filter(${host}=>bulkheadLocation&&${host}.representsRunningLocation(bulkheadLocation)).map(${host}=>${host}.activate(${id},${reason}))))`,
    },
    {
      name: "begin-many",
      what: "nor is one waited for that has nothing to begin, or takes too long",
      times: 2,
      shape: shape(String.raw`Promise\.all\(NAME\.map\(NAME=>\2\.activateByEvent\(NAME,(NAME|0)\)\)\)\.then`),
      text: (hosts, host, event, kind) => `Promise.all(${hosts}.map(${host}=>globalThis.bulkhead.begun(this,${host},${event},${host}.activateByEvent(${event},${kind})))).then`,
    },
    {
      name: "begin-ready",
      what: "nor one that is not ready",
      times: 2,
      shape: shape(String.raw`await Promise\.all\(NAME\.map\(NAME=>\2\.ready\(\)\)\)`),
      text: (hosts, host) => `await Promise.all(${hosts}.map(${host}=>globalThis.bulkhead.patiently(${host},${host}.ready())))`,
    },
    {
      name: "after-change",
      what: "hosts are started for extensions added later, and ended with their last one",
      times: 1,
      shape: shape(String.raw`await this\._deltaExtensions\(NAME,NAME\.toAdd,NAME\.toRemove\)\}`),
      text: (lock, change) =>
        `await this._deltaExtensions(${lock},${change}.toAdd,${change}.toRemove),` +
        `globalThis.bulkhead.afterChange(this,()=>${START})}`,
    },
    {
      name: "after-end",
      what: "a compartment that ended starts again by itself, without counting for the others",
      times: 1,
      shape: shape(
        String.raw`async _onRemoteExtensionHostCrashed\(NAME,NAME\)\{try\{let NAME=await this\._getExtensionHostExitInfoWithTimeout\(\2\);([^]{0,300}?)this\._logExtensionHostCrash\(\1\),` +
          String.raw`this\._remoteCrashTracker\.registerCrash\(\),this\._remoteCrashTracker\.shouldAutomaticallyRestart\(\)\?`,
      ),
      // A busy server does not tell in time how it ended; VS Code would leave it at that, and the window without the host.
      text: (host, token, info, between) =>
        `async _onRemoteExtensionHostCrashed(${host},${token}){try{let ${info}=await this._getExtensionHostExitInfoWithTimeout(${token}).catch(()=>null);` +
        `${between}this._logExtensionHostCrash(${host}),` +
        `globalThis.bulkhead.afterEnd(${host},${info},()=>${START})?void 0:` +
        `(this._remoteCrashTracker.registerCrash(),this._remoteCrashTracker.shouldAutomaticallyRestart())?`,
    },
    {
      name: "after-failure",
      what: "a host whose connection fails as it starts is one that ended: it starts again",
      times: 1,
      shape: shape(String.raw`NAME=>\{this\._logService\.error\(\x60Error received from starting extension host \(kind: (\$\{NAME\(this\.kind\)\})\)\x60\),`),
      // Of a connection that never was, the server tells nothing.
      text: (failure, kind) => `${failure}=>{this._logService.error(\`Error received from starting extension host (kind: ${kind})\`),globalThis.bulkhead.failed(this,${failure}),this._extensionHost._onExtHostConnectionLost?.("none"),`,
    },
    {
      name: "command-registry",
      what: "it is known which commands are the editor's own",
      times: 1,
      shape: shape(
        String.raw`NAME=new class\{constructor\(\)\{this\._commands=new Map;this\._onDidRegisterCommand=new NAME;`,
      ),
      text: (registry, emitter) =>
        `${registry}=globalThis.bulkhead.commandRegistry=new class{constructor(){this._commands=new Map;this._onDidRegisterCommand=new ${emitter};`,
    },
    {
      name: "settings-registry",
      what: "it is known which settings are the editor's own",
      times: 1,
      shape: /getConfigurationProperties\(\)\{return this\.configurationProperties\}/g,
      text: () => "getConfigurationProperties(){return globalThis.bulkhead.settingsRegistry=this.configurationProperties}",
    },
    {
      name: "color-registry",
      what: "and which colours",
      times: 1,
      shape: /this\.colorsById=\{\}\}/g,
      text: () => "this.colorsById=globalThis.bulkhead.colorRegistry={}}",
    },
    {
      name: "declarations",
      what: "what a package declares is looked through before the workbench acts on it",
      times: 1,
      shape: shape(
        String.raw`deltaExtensions\(NAME,NAME\)\{this\._extensionDescriptions=NAME\(this\._extensionDescriptions,\2\),this\._extensionDescriptions=this\._extensionDescriptions\.concat\(\1\);`,
      ),
      text: (added, removed, without) =>
        `deltaExtensions(${added},${removed}){this._extensionDescriptions=${without}(this._extensionDescriptions,${removed}),` +
        `globalThis.bulkhead.disarm(${added},this._extensionDescriptions),` +
        `this._extensionDescriptions=this._extensionDescriptions.concat(${added});`,
    },
    {
      name: "menu-items",
      what: "items of a package's menus stand on no row of Bulkhead's, whatever their conditions",
      times: 1,
      shape: shape(
        String.raw`if\(NAME\.proposed&&!NAME\(NAME\.description,\1\.proposed\)\)([^]{0,1500}?)NAME\.when=NAME\.deserialize\(NAME\.when\),NAME\.add\(NAME\.appendMenuItem\(\1\.id,\5\)\)`,
      ),
      text: (menu, isEnabled, extension, between, item, conditions, declared, all, registry) =>
        `if(${menu}.proposed&&!${isEnabled}(${extension}.description,${menu}.proposed))${between}` +
        `${item}.when=globalThis.bulkhead.menuCondition(${extension}.description,${menu}.key,${conditions}.deserialize(${declared}.when),${conditions}),${all}.add(${registry}.appendMenuItem(${menu}.id,${item}))`,
    },
    {
      name: "source-control",
      what: "source controls of several hosts are told apart: each host counts its own from 0",
      times: 1,
      shape: shape(
        String.raw`get id\(\)\{return\x60scm\$\{this\._handle\}\x60\}get parentId\(\)\{return this\._parentHandle!==void 0\?\x60scm\$\{this\._parentHandle\}\x60:void 0\}`,
      ),
      text: () =>
        "get id(){return`scm${this._handle}${globalThis.bulkhead.ofHost(this.proxy)}`}" +
        "get parentId(){return this._parentHandle!==void 0?`scm${this._parentHandle}${globalThis.bulkhead.ofHost(this.proxy)}`:void 0}",
    },
    {
      name: "host-context",
      what: "the workbench's side of a host knows whether that is a compartment",
      times: 1,
      shape: shape(String.raw`NAME=\{remoteAuthority:this\._extensionHost\.remoteAuthority,extensionHostKind:this\.kind,`),
      text: (context) =>
        `${context}={remoteAuthority:this._extensionHost.remoteAuthority,extensionHostKind:this.kind,` +
        "isCompartment:globalThis.bulkhead.isCompartment(this),",
    },
    {
      name: "comments",
      what: "a host that starts leaves the others' comments alone, and one that ends takes its own along",
      times: 1,
      shape: shape(
        String.raw`this\._commentService\.unregisterCommentController\(\),this\._register\(this\._commentService\.onDidChangeActiveEditingCommentThread\(`,
      ),
      text: () =>
        "this._register({dispose:()=>{for(let handle of[...this._handlers.keys()])this.$unregisterCommentController(handle)}})," +
        "this._register(this._commentService.onDidChangeActiveEditingCommentThread(",
    },
    {
      name: "declared-tools",
      what: "a declared tool is its extension's: code-server has all of them for the editor's own",
      times: 2,
      shape: shape(
        String.raw`let NAME=NAME\.defaultChatAgent\?\.chatExtensionId\?[^?:]{1,90}:NAME\(NAME\.description,"chatParticipantPrivate"\),`,
      ),
      text: (editors, _1, _2, declared) => `let ${editors}=globalThis.bulkhead.isEditors(${declared}.description),`,
    },
    {
      name: "mcp-servers",
      what: "a person's MCP servers are not handed to whichever host connected first",
      times: 1,
      shape: shape(String.raw`canStart\(NAME,NAME\)\{return!\(\1\.remoteAuthority!==NAME\.remoteAuthority\|\|`),
      text: (servers, one, host) =>
        `canStart(${servers},${one}){return!(${host}.isCompartment||${servers}.remoteAuthority!==${host}.remoteAuthority||`,
    },
    {
      name: "chat-context",
      what: "nor is what a person clicks in a chat's context handed to whichever host came last",
      times: 1,
      shape: shape(String.raw`this\._proxy=NAME\.getProxy\(NAME\.ExtHostChatContext\),this\._chatContextService\.setExecuteCommandCallback\(`),
      text: (host, actors) =>
        `this._proxy=${host}.getProxy(${actors}.ExtHostChatContext),${host}.isCompartment||this._chatContextService.setExecuteCommandCallback(`,
    },
    {
      name: "sign-in",
      what: "nor is a person's sign-in at a server that an MCP server names",
      times: 1,
      shape: shape(String.raw`registerAuthenticationProviderHostDelegate\(\{priority:NAME\.extensionHostKind===2\?0:1,`),
      text: (host) => `registerAuthenticationProviderHostDelegate({priority:${host}.isCompartment?-1:${host}.extensionHostKind===2?0:1,`,
    },
    {
      name: "snippets",
      what: "snippets of a package are looked through as they are read",
      times: 1,
      shape: shape(
        String.raw`NAME\|\|\(\1=""\),Array\.isArray\(NAME\)&&\(\2=\2\.join\(\x60\s*\x60\)\),typeof \2!="string"\)return;`,
      ),
      text: (prefix, body) =>
        `${prefix}||(${prefix}=""),Array.isArray(${body})&&(${body}=${body}.join("\\n")),typeof ${body}!="string")return;` +
        `${body}=globalThis.bulkhead.snippet(this._extension,${body});`,
    },
    {
      name: "suggested-snippets",
      what: "a completion of the editor's own extensions, which may hold what a document says, does not write the clipboard",
      times: 1,
      shape: shape(String.raw`clipboardText:NAME\.model\.clipboardText,`),
      text: (chosen) => `clipboardText:globalThis.bulkhead.clipboardFor(${chosen}.item,${chosen}.model.clipboardText),`,
    },
    {
      name: "text-editors",
      what: "it is known whether a compartment inserts a snippet",
      times: 1,
      shape: shape(String.raw`this\._proxy=NAME\.getProxy\(NAME\.ExtHostEditors\)`),
      text: (host, actors) => `this.bulkheadIsCompartment=${host}.isCompartment,this._proxy=${host}.getProxy(${actors}.ExtHostEditors)`,
    },
    {
      name: "inserted-snippets",
      what: "nor does a snippet that they insert",
      times: 1,
      shape: shape(String.raw`(\$tryInsertSnippet\(NAME,NAME,NAME,NAME,NAME\)\{)`),
      text: (before, _1, _2, snippet) => `${before}this.bulkheadIsCompartment||(${snippet}=globalThis.bulkhead.withoutClipboard(${snippet}));`,
    },
    {
      name: "token-fonts",
      what: "the fonts of a theme are fonts: they are written into a style sheet of the whole window",
      times: 1,
      shape: shape(
        String.raw`NAME\.fontFamily&&\(NAME\+=\x60font-family: \$\{\1\.fontFamily\};\x60\),\1\.fontSizeMultiplier&&\(\2\+=\x60font-size: calc\(var\(--editor-font-size\)\*\$\{\1\.fontSizeMultiplier\}\);\x60\)`,
      ),
      text: (font, rule) =>
        `${font}.fontFamily&&(${rule}+=\`font-family: \${globalThis.bulkhead.fontOf(${font}.fontFamily)};\`),` +
        `${font}.fontSizeMultiplier&&(${rule}+=\`font-size: calc(var(--editor-font-size)*\${Number(${font}.fontSizeMultiplier)||1});\`)`,
    },
    {
      name: "style-texts",
      what: "a text in a style sheet ends where it ends",
      times: 1,
      shape: shape(String.raw`function NAME\(NAME\)\{return\x60'\$\{\2\.replaceAll\(/'/g,"\\\\000027"\)\}'\x60\}`),
      text: (name, text) => `function ${name}(${text}){return globalThis.bulkhead.cssText(${text})}`,
    },
    {
      name: "decoration-icons",
      what: "so does an icon beside a file's name",
      times: 1,
      shape: shape(String.raw`content: '\$\{NAME\.fontCharacter\}';`),
      text: (icon) => `content: \${globalThis.bulkhead.cssText(${icon}.fontCharacter)};`,
    },
    {
      name: "invalid-packages",
      what: "what VS Code quotes of a package that it cannot read holds no links, which would be trusted",
      times: 1,
      shape: shape(String.raw`message:new NAME\(NAME\.join\(" "\)\.trim\(\)\)\}`),
      text: (markdown, words) => `message:new ${markdown}().appendText(${words}.join(" ").trim())}`,
    },
    {
      name: "languages",
      what: "it is known whether a compartment says what a document links to",
      times: 1,
      shape: shape(String.raw`if\(this\._proxy=NAME\.getProxy\(NAME\.ExtHostLanguageFeatures\),`),
      text: (host, actors) => `if(this.bulkheadIsCompartment=${host}.isCompartment,this._proxy=${host}.getProxy(${actors}.ExtHostLanguageFeatures),`,
    },
    {
      name: "language-configuration",
      what: "what packages have the window type by itself, in every document of a language, is looked through as it is read",
      times: 1,
      shape: shape(
        String.raw`async _readConfigFile\(NAME\)\{try\{let NAME=await this\._extensionResourceLoaderService\.readExtensionResource\(\1\),NAME=\[\],NAME=NAME\(\2,\3\);([^]{0,400}?)\4=\{\}\),\4\}catch`,
      ),
      text: (file, text, errors, value, parse, between) =>
        `async _readConfigFile(${file}){try{let ${text}=await this._extensionResourceLoaderService.readExtensionResource(${file}),${errors}=[],${value}=${parse}(${text},${errors});` +
        `${between}${value}={}),globalThis.bulkhead.languageConfiguration(${file},${value})}catch`,
    },
    {
      name: "notice-buttons",
      what: "a button of Bulkhead's takes a person's own click or key, and none that was meant for what stood in its place",
      times: 1,
      shape: shape(
        String.raw`(renderButtons\(NAME\)\{[^]{0,900}?)this\.inputDisposables\.add\(NAME\.onDidClick\(NAME=>\{\4&&(NAME\.stop\(\4,!0\)),(NAME\.run\(NAME\))\}\)\)`,
      ),
      text: (before, notice, button, event, stop, _1, run) =>
        `${before}globalThis.bulkhead.watchButton(${notice}.sourceId,${button}.element),` +
        `this.inputDisposables.add(${button}.onDidClick(${event}=>{${event}&&${stop},globalThis.bulkhead.press(${button}.element,${event},()=>${run})}))`,
    },
    {
      name: "notice-answers",
      what: "nothing else answers for it: no command, and no key that is meant for a command",
      times: 1,
      shape: shape(
        String.raw`(_showMessage\(NAME,NAME,NAME,NAME\)\{return new Promise\(NAME=>\{let NAME=\4\.map\(NAME=>NAME\(\{id:\x60_extension_message_handle_\$\{\8\.handle\}\x60,label:\8\.title,enabled:!0,run:\(\)=>\()(\6\(\8\.handle\))`,
      ),
      text: (before, _1, _2, _3, options, _4, _5, _6, _7, answer) => `${before}globalThis.bulkhead.mayAnswer(${options}.source?.identifier.value)&&${answer}`,
    },
    {
      name: "revealed-settings",
      what: "a command that shows a setting writes none: whoever may only show one would set it to nothing",
      times: 1,
      shape: shape(String.raw`(revealSetting:\{key:NAME\.revealSetting\.key,edit:)NAME\(\2\.revealSetting\?\.edit\)\}`),
      text: (before) => `${before}!1}`,
    },
    {
      name: "notice-urgent",
      what: "it is shown, and stays, where others are told not to disturb",
      times: 1,
      shape: shape(String.raw`NAME=(NAME\.URGENT_NOTIFICATION_SOURCES\.includes\((NAME\.id)\))\),`),
      text: (urgent, listed, _1, id) => `${urgent}=${listed}||globalThis.bulkhead.isAskers(${id})),`,
    },
    {
      name: "notice-command",
      what: "nor closes it, which is an answer too",
      times: 1,
      shape: shape(String.raw`(NAME=NAME\(NAME\.get\(NAME\)\)\|\|NAME\.notifications\.at\(0\);if\(!)\2(\)return;let NAME=)\2(\.actions\?\.primary)`),
      text: (before, notice, _1, _2, _3, _4, middle, _5, after) => `${before}${notice}||globalThis.bulkhead.isAskers(${notice}.sourceId)${middle}${notice}${after}`,
    },
    {
      name: "dialog-buttons",
      what: "the same for Bulkhead's dialogs",
      times: 1,
      shape: shape(String.raw`(\$showMessage\(NAME,NAME,NAME,NAME\)\{return )(\4\.modal\?this\._showModalMessage\()`),
      text: (before, _1, message, options, _2, after) => `${before}${options}.modal&&globalThis.bulkhead.asksModally(${options}.source?.identifier.value,${message}),${after}`,
    },
    {
      name: "hint-title",
      what: "an inlay hint's hover runs the hint's command with its arguments, whatever the title holds",
      times: 1,
      shape: shape(
        String.raw`new NAME\((\x60\[\$\{NAME\(\d+,null\)\}\]\(\$\{NAME\((NAME\.part\.command)\)\} ")\$\{\5\.title\}("\) \(\$\{NAME\}\)\x60),\{isTrusted:!0\}\)`,
      ),
      text: (markdown, before, _1, _2, command, _3, after) =>
        `new ${markdown}(${before}\${String(${command}.title).replace(${MARKS}," ")}${after},{isTrusted:{enabledCommands:[` +
        `{command:${command}.id,arguments:${command}.arguments?.length?encodeURIComponent(JSON.stringify(${command}.arguments)):""}]}})`,
    },
    {
      name: "link-hover",
      what: "so does that of a link in a document, whatever its address or tooltip holds",
      times: 1,
      shape: shape(
        String.raw`return new NAME\("",!0\)\.appendLink\((NAME\.url)\.toString\(!0\)\.replace\(/ /g,"%20"\),NAME,NAME\)\.appendMarkdown\(`,
      ),
      text: (markdown, url, _1, tooltip, title) =>
        `return new ${markdown}("",{isTrusted:${url}.scheme?.toLowerCase()==="command"&&{enabledCommands:[{command:${url}.path,arguments:${url}.query}]}})` +
        `.appendLink(${url}.toString(!0).replace(/[\\x00-\\x20\\\\<>]/g,encodeURIComponent),String(${tooltip}).replace(${MARKS}," "),${title}.replace(${MARKS}," ")).appendMarkdown(`,
    },
    {
      name: "language-status",
      what: "what a language's status says is text of whoever says it",
      times: 1,
      shape: shape(String.raw`tooltip:(NAME\.command\?\.tooltip\|\|new NAME\(NAME\.detail),\{isTrusted:!0,supportThemeIcons:!0\}\)`),
      text: (before) => `tooltip:${before},{supportThemeIcons:!0})`,
    },
    {
      name: "code-editors",
      what: "it is known where a person writes",
      times: 1,
      shape: shape(String.raw`this\._register\(this\.registerCodeEditorOpenHandler\(this\.doOpenCodeEditorFromDiff\.bind\(this\)\)\)`),
      text: () => "this._register((globalThis.bulkhead.codeEditors=this).registerCodeEditorOpenHandler(this.doOpenCodeEditorFromDiff.bind(this)))",
    },
    {
      name: "judged-commands",
      what: "what a compartment's command changes is the document that it was judged for, at that very moment",
      times: 1,
      shape: shape(String.raw`async \$executeCommand\(NAME,NAME,NAME\)\{([^]{0,500}?)return this\._commandService\.executeCommand\(\1,\.\.\.\2\)\}`),
      text: (id, args, retry, before) =>
        `async $executeCommand(${id},${args},${retry},judged){${before}return globalThis.bulkhead.execute(this._commandService,${id},${args},judged)}`,
    },
    {
      name: "given-commands",
      what: "what a setting or a command gives for a variable names no command to run: a person's launch.json names those",
      times: 1,
      shape: shape(String.raw`(NAME)\?\.includes\((NAME)\.replacement\.id\)(\)continue;let NAME=this\.locations\.get\(\4\.replacement\.id\))`),
      text: (outer, _1, found, _2, after) => `${outer}&&(${found}.replacement.name==="command"||${outer}.includes(${found}.replacement.id))${after}`,
    },
    {
      name: "given-configurations",
      what: "nor does it where a host puts it into a configuration first",
      times: 1,
      shape: shape(String.raw`(async substituteVariables\(NAME,NAME\)\{let NAME=)(await this\.adapterManager\.substituteVariables\(this\.type,\2,\3\));`),
      text: (before, _1, asked, _2, answer) => `${before}globalThis.bulkhead.withCommandsOf(${asked},${answer});`,
    },
    {
      name: "given-tasks",
      what: "or into a task: what it has put there is not looked at for more",
      times: 1,
      shape: shape(
        String.raw`(variables:NAME\}\)\)\.then\(NAME=>\{let NAME=Array\.from\(Object\.values\(\3\.variables\)\);[^]{0,90}?\.resolveWithInteraction\(NAME,)\4(,"tasks",)`,
      ),
      text: (before, asked, given, _1, _2, after) => `${before}${asked}.filter(asked=>${given}.variables[asked]===asked)${after}`,
    },
    {
      name: "own-token",
      what: "the page has its token from the server: a webview can set cookies of that name",
      times: 1,
      shape: shape(String.raw`NAME=NAME\.options\.connectionToken\|\|NAME\(NAME\)`),
      text: (token, page, cookie, name) =>
        // And keeps it nowhere that a style sheet can tell of: a rule for meta[content^="a"] would.
        `${token}=${page}.options.connectionToken||(given=>(given?.remove(),given?.content))(document.querySelector('meta[name="bulkhead-token"]'))||${cookie}(${name})`,
    },
    {
      name: "test-controllers",
      what: "who has tests of a name first is asked to run them, not who comes last",
      times: 1,
      shape: shape(String.raw`\$registerTestController\(NAME,NAME,NAME\)\{let `),
      text: (id, label, capabilities) =>
        `$registerTestController(${id},${label},${capabilities}){if(this.testService.getTestController(${id}))throw new Error("another extension has tests of the name "+${id});let `,
    },
    {
      name: "test-results",
      what: "and nobody else speaks for them",
      times: 3,
      shape: shape(String.raw`(\$(?:publishDiff|updateTestRunConfig|removeTestProfile)\()NAME((?:,[\w$]+)*)\)\{(this\.test)`),
      text: (method, id, others, first) => `${method}${id}${others}){if(!this.testProviderRegistrations.has(${id}))return;${first}`,
    },
    {
      name: "task-providers",
      what: "it is known which tasks a compartment offers",
      times: 1,
      shape: shape(
        String.raw`this\._proxy=NAME\.getProxy\(NAME\.ExtHostTask\)(,[^]{0,1500}?\$registerTaskProvider\(NAME,NAME\)\{let NAME=\{)provideTasks:NAME=>Promise\.resolve\(this\._proxy\.\$provideTasks\(\4,\7\)\)`,
      ),
      text: (host, actors, between, handle, _1, _2, types) =>
        `this.bulkheadIsCompartment=${host}.isCompartment,this._proxy=${host}.getProxy(${actors}.ExtHostTask)${between}` +
        `bulkheadIsCompartment:this.bulkheadIsCompartment,provideTasks:(${types},...unasked)=>Promise.resolve(this._proxy.$provideTasks(${handle},${types},...unasked))`,
    },
    {
      name: "task-labels",
      what: "no person is asked about them where a window that starts wants their labels for what it suggests in a launch.json",
      times: 1,
      shape: shape(String.raw`(getKnownTasks\(NAME\)\{return this\.NAME\(\2\)\?)this(\._getGroupedTasks\()`),
      text: (known, _1, _2, grouped) => `${known}globalThis.bulkhead.tasksUnasked(this)${grouped}`,
    },
    {
      name: "socket-data",
      what: "bytes of a host are taken as they come: read as Blobs, one after the other, thirty hosts were late by seconds",
      times: 1,
      shape: shape(
        String.raw`this\._socketMessageListener=NAME=>\{let NAME=\1\.data;this\.traceSocketEvent\("browserWebSocketBlobReceived",\{type:\2\.type,size:\2\.size\}\),NAME\(\2\)\}`,
      ),
      text: (event, data) =>
        `this._socket.binaryType="arraybuffer",this._socketMessageListener=${event}=>{let ${data}=${event}.data;` +
        `this.traceSocketEvent("read",${data}),this._onData.fire(${data})}`,
    },
    {
      name: "webview-origin",
      what: "webviews get origins of their own, which code-server takes away",
      times: 1,
      shape: /this\.options\.webviewEndpoint&&new URL\(this\.options\.webviewEndpoint,window\.location\.toString\(\)\)\.toString\(\)\|\|/g,
      // VS Code puts the hash of the workbench's origin and the webview's own in place of {{uuid}}.
      text: () => 'this.options.webviewEndpoint&&new URL(this.options.webviewEndpoint,window.location.toString()).toString().replace("://","://{{uuid}}.")||',
    },
    {
      name: "webview-label",
      what: "an origin's name says whose it is, which decides what its pages may reach",
      times: 1,
      shape: shape(String.raw`(this\._encodedWebviewOriginPromise=NAME\(NAME\.origin,this\.origin\))\.then\(NAME=>this\._encodedWebviewOrigin=\4\)`),
      text: (hash, _1, _2, name) =>
        `${hash}.then(${name}=>globalThis.bulkhead.pageName(${name},this.extension?.id?.value,this._options)).then(${name}=>this._encodedWebviewOrigin=${name})`,
    },
    {
      name: "webview-keys",
      what: "keys that a webview says were pressed in it are known as its own",
      times: 1,
      shape: shape(
        String.raw`(handleKeyEvent\(NAME,NAME\)\{if\(!this\.shouldForwardKeyEvent\(\3\)\|\|!this\.isActiveElement\(\)\)return;let NAME=new KeyboardEvent\(\2,\3\);Object\.defineProperty\(\4,"target",\{get:\(\)=>this\.element\}\),)this\.window\?\.dispatchEvent\(\4\)\}`,
      ),
      text: (before, _1, _2, event) => `${before}globalThis.bulkhead.pressedIn(this.extension?.id?.value,()=>this.window?.dispatchEvent(${event}))}`,
    },
    {
      name: "key-commands",
      what: "such keys run what a webview may run",
      times: 1,
      shape: shape(
        String.raw`case 2:\{(if\(this\._logService\.trace\("KeybindingService#dispatch",NAME,\`\[ Will dispatch command \$\{NAME\.commandId\} \]\`\),)`,
      ),
      text: (before, _1, found) => `case 2:{if(!globalThis.bulkhead.mayPress(${found}.commandId,${found}.commandArgs))return!1;${before}`,
    },
    {
      name: "typed-path",
      what: "a path that is dropped on a terminal is typed there, and runs nothing",
      times: 1,
      shape: shape(
        String.raw`async preparePathForShell\(NAME\)\{return await this\.processReady,(NAME\(\1,this\.shellLaunchConfig\.executable,[^(){}]*\))\}`,
      ),
      text: (path, prepared) => `async preparePathForShell(${path}){return await this.processReady,(await ${prepared}).replace(${KEYS},"")}`,
    },
    {
      name: "typed-completion",
      what: "so is what a terminal's list completes: names of files, of scripts",
      times: 1,
      shape: shape(String.raw`inputData;if\(NAME===void 0\)\{let NAME=(NAME\(NAME\.label\)\?\5\.label:\5\.label\.label);`),
      text: (given, label, said) => `inputData;if(${given}===void 0){let ${label}=(${said}).replace(${KEYS},"");`,
    },
    {
      name: "typed-branch",
      what: "what a terminal offers to run for a branch without a remote one runs no more, whatever the branch is called",
      times: 1,
      shape: shape(String.raw`(git push --set-upstream origin )\(\?<branchName>\[\^\\s\]\+\)`),
      text: (push) => String.raw`${push}(?<branchName>(?!-)[^\s;&|<>()$\x60"'\\!{}*?~]+)(?!\S)`,
    },
    {
      name: "web-documents",
      what: "what names an address of the web where a document is expected has it not fetched: problems, tests, dragged rows, lists of every kind",
      times: 1,
      shape: shape(
        String.raw`async readFile\(NAME\)\{try\{let NAME=await fetch\(\1\.toString\(!0\)\);([^{}]{0,120}?throw (NAME)\([^{}]{0,40})\}catch\(NAME\)\{([^{}]{0,40})\}\}async stat\(NAME\)\{return(\{type:1,size:0,mtime:0,ctime:0\})\}`,
      ),
      text: (uri, answer, read, wrapped, _1, error, failed, status, about) =>
        `async readFile(${uri}){try{let ${answer}=await fetch(globalThis.bulkhead.shippedAddress(${uri}.toString(!0)));${read}}catch(${error}){${failed}}}` +
        `async stat(${status}){try{return globalThis.bulkhead.shippedAddress(${status}.toString(!0)),${about}}catch(refused){throw ${wrapped}(refused,"EntryNotFound")}}`,
    },
    {
      name: "own-address",
      what: "a link to the editor itself asks as others do, for its address can choose the workspace",
      times: 1,
      shape: shape(String.raw`=/\^\(\.\+\\\.\)\?localhost\(:\\d\+\)\?\$/i,NAME=/\^127`),
      // Plain letters: a browser takes out tabs, and what stands before an "@", and reads wide letters as these.
      text: (next) => String.raw`=/^(?!(?:.+\.)?bulkhead\.localhost(?::\d+)?$)(?:[\w-]+\.)*localhost(:\d+)?$/i,${next}=/^127`,
    },
    {
      name: "own-links",
      what: "so does one that stands in a file or a webview",
      times: 1,
      shape: shape(String.raw`async validateLink\(NAME,NAME\)\{if\(!NAME\(\1,NAME\.http\)&&!\3\(\1,\4\.https\)\|\|\2\?\.fromWorkspace&&`),
      text: (link, options, matches, schemes) =>
        `async validateLink(${link},${options}){if(!${matches}(${link},${schemes}.http)&&!${matches}(${link},${schemes}.https)&&!globalThis.bulkhead.mustAsk(${link},${options})||${options}?.fromWorkspace&&!globalThis.bulkhead.isOwnAddress(${link})&&`,
    },
    {
      name: "goodbye",
      what: "a host that is not wanted any more is told so, also where it was still starting",
      times: 1,
      shape: shape(
        String.raw`let\{protocol:NAME,debugPort:NAME,reconnectionToken:NAME\}=NAME,NAME=typeof \2=="number";`,
      ),
      text: (protocol, port, token, connection, debugs) =>
        `let{protocol:${protocol},debugPort:${port},reconnectionToken:${token}}=${connection},${debugs}=typeof ${port}=="number";` +
        `this._protocol=${protocol};if(this._terminating)return this.disconnect(),new Promise(()=>{});`,
    },
    {
      name: "host-environment",
      what: "the launcher is told which host it starts, and what for",
      times: 1,
      shape: shape(
        String.raw`\.then\(NAME=>\{let NAME=\{([^{}]{0,300}?)env:\{\.\.\.this\._environmentService\.debugExtensionHost\.env,\.\.\.\1\.options\?\.extensionHostEnv\}\},NAME=this\._environmentService\.extensionDevelopmentLocationURI`,
      ),
      text: (authority, start, between, development) =>
        `.then(async ${authority}=>{let ${start}={${between}env:{...this._environmentService.debugExtensionHost.env,...${authority}.options?.extensionHostEnv,` +
        `...await globalThis.bulkhead.environment(this)}},` +
        `${development}=this._environmentService.extensionDevelopmentLocationURI`,
    },
  ];
};

/** @param {string} source workbench.js as published */
export function allEdits(source) {
  const matches = find(source, location.shape);
  return [location, ...(matches.length === 1 ? others(matches[0][1]) : [])];
}

/**
 * How often each edit's shape occurs: for `bulkhead doctor --code` and for error messages.
 * @param {string} source workbench.js as published
 */
export const inspect = (source) => count(source, allEdits(source));

/**
 * The workbench with all edits and placement.js before it. Throws EditError and edits nothing where
 * one does not fit.
 * @param {string} source workbench.js as published
 * @param {string} placement placement.js
 */
export const edit = (source, placement) => `${placement}\n${apply(source, allEdits(source))}`;

// What a package only declares, and the workbench acts on by itself: key bindings, menus, links in
// welcome views, walkthroughs and descriptions, default settings, scripts for others' webviews. None of
// it runs in a compartment, so no policy would be asked. Loaded before the workbench, after
// placement.js; trusted.
//
// A foreign package may name its own commands and settings, and what cannot do harm whoever asks for it.
// Everything else of that kind is left out of its description before the workbench sees it. A person who
// wants such a key binding writes it into keybindings.json, where it is theirs.
(() => {
  "use strict";
  /**
   * What the launcher wrote into the page: the companion's folder, what commands need (commands.json), the first names of
   * the editor's own settings, and the points that this version's workbench reads of packages.
   */
  const { companion = "", commands = {}, settingFamilies = [], points = [] } = globalThis.bulkheadSettings ?? {};
  /** What may be done by pressing a key or following a link, with arguments that the package chose. */
  const HARMLESS = new Set(["free", "commands", "languages", "workspace-edit"]);
  /**
   * Of these, what is so without arguments only: the next Enter would run what quick open is filled with; a viewer fetches what
   * a page names; a context may be ours.
   */
  const ARGUMENTS = /^(?:workbench\.action\.quickOpen|_?setContext|vscode\.(?:openWith|diff|changes)|_workbench\.(?:open|openWith|diff|changes)|_open\.mergeEditor)$/;
  /** Command families of the workbench, which registers some of their members only later. */
  const EDITORS = new Set(["workbench", "editor", "vscode", "bulkhead"]);
  /** Types of chats that the window has without a package, as the broker has it (src/vscode/broker_parts.h). */
  const isEditorsChat = (/** @type {unknown} */ type) => typeof type !== "string" || /^(?:local$|copilot-growth$|agent-host-|remote-|vscode|chat)/i.test(type);
  /**
   * Settings of text editors by their names: how text looks, and what the window does as a person writes. None of them runs or
   * writes anything, has other keys mean something, or answers for a person ("accessibilitySupport" does).
   */
  const EDITORS_LOOKS = `editor\\.(?:${(
    "acceptSuggestionOnCommitCharacter acceptSuggestionOnEnter allowVariableFonts allowVariableLineHeights " +
    "autoClosing(?:Brackets|Comments|Delete|Overtype|Quotes) autoIndent(?:OnPaste\\w*)? autoSurround " +
    "bracketPairColorization\\.\\w+ codeLens(?:FontFamily|FontSize)? colorDecorators(?:ActivatedOn|Limit)? " +
    "columnSelection comments\\.\\w+ " +
    "cursor(?:Blinking|Height|SmoothCaretAnimation|Style|SurroundingLines|SurroundingLinesStyle|Width) " +
    "defaultColorDecorators definitionLinkOpensInPeek detectIndentation doubleClickSelectsBlock dragAndDrop " +
    "emptySelectionClipboard fastScrollSensitivity " +
    "find\\.(?:addExtraSpaceOnTop|autoFindInSelection|closeOnResult|cursorMoveOnType|findOnType|loop|seedSearchStringFromSelection) " +
    "folding\\w* font(?:Family|Ligatures|Size|Variations|Weight) fullwidthCharacterWidth glyphMargin " +
    "gotoLocation\\.multiple\\w* guides\\.\\w+ hideCursorInOverviewRuler " +
    "hover\\.(?:above|delay|enabled|hidingDelay|sticky) indentSize inertialScroll inlayHints\\.\\w+ " +
    "inlineSuggest\\.(?:enabled|fontFamily|showToolbar|syntaxHighlightingEnabled) insertSpaces " +
    "language\\.(?:brackets|colorizedBracketPairs) letterSpacing lightbulb\\.enabled lineHeight lineNumbers " +
    "linkedEditing links matchBrackets maxTokenizationLineLength minimap\\.\\w+ mouseWheelScrollSensitivity " +
    "multiCursor\\w+ occurrencesHighlight\\w* overviewRulerBorder padding\\.\\w+ parameterHints\\.\\w+ " +
    "peekWidgetDefaultFocus quickSuggestions(?:Delay)? renameOnType " +
    "render(?:FinalNewline|IndentGuides|LineHighlight|LineHighlightOnlyWhenFocus|Whitespace) roundedSelection " +
    "rulers scroll(?:BeyondLastColumn|BeyondLastLine|OnMiddleClick|PredominantAxis) scrollbar\\.\\w+ " +
    "selectionHighlight\\w* semanticHighlighting\\.enabled semanticTokenColorCustomizations " +
    "show(?:Deprecated|FoldingControls|Unused) smartSelect\\.\\w+ smoothScrolling snippetSuggestions " +
    "stablePeek stickyScroll\\.\\w+ stickyTabStops suggest\\.\\w+ " +
    "suggest(?:FontSize|LineHeight|OnTriggerCharacters|Selection) tabCompletion tabSize " +
    "tokenColorCustomizations trimAutoWhitespace unfoldOnClickAfterEndOfLine unusualLineTerminators " +
    "useTabStops wordBasedSuggestions(?:Mode)? wordBreak wordSegmenterLocales wordSeparators wordWrap\\w* " +
    "wrapOnEscapedLineFeeds wrapping(?:Indent|Strategy) "
  ).trim().split(" ").join("|")})`;
  /**
   * Settings that change how text looks and is arranged and which files are shown, and no more: not what warns of signs that
   * look like others, nor what asks before files go, nor the window's colours and icons: a theme is what a person chose. Emmet
   * puts its preferences and variables into snippets.
   */
  const LOOKS = new RegExp(`^(?:${[
    "(?:breadcrumbs|diffEditor|outline)\\..+", "workbench\\.tree\\.(?:enableStickyScroll|expandMode|indent|renderIndentGuides)",
    EDITORS_LOOKS,
    "emmet\\.(?:excludeLanguages|includeLanguages|show\\w+|triggerExpansionOnTab)",
    "explorer\\.(?:autoReveal\\w*|compactFolders|decorations\\.\\w+|excludeGitIgnore|fileNesting\\.\\w+|openEditors\\.\\w+|sortOrder\\w*)",
    "files\\.(?:associations|exclude|watcherExclude)",
    "search\\.(?:exclude|smartCase|use\\w*IgnoreFiles)",
  ].join("|")})$`);
  /** Beside these, in documents of a language: who formats one, and what happens to it as it is saved or pasted into. */
  const HANDLES = /^(?:editor\.(?:codeActions\.|defaultFormatter$|dropIntoEditor|format|pasteAs)|files\.(?:(?:auto|candidate)Guess\w+|encoding|eol|insertFinalNewline|trim\w+)$)/;
  /**
   * What is done to a document as it is saved: source actions. Others, such as quick fixes, run a command of whoever offers
   * them, the editor's own extensions too.
   */
  const ON_SAVE = "editor.codeActionsOnSave";
  const onSave = (/** @type {unknown} */ value) => {
    const isSource = (/** @type {unknown} */ kind) => typeof kind === "string" && /^source(?:\.|$)/.test(kind);
    if (Array.isArray(value)) return value.filter(isSource);
    return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).filter(([kind]) => isSource(kind))) : undefined;
  };
  /**
   * Points of the workbench and of built-in extensions that are left out whole: what they are to a person. Some of
   * them VS Code keeps for chosen extensions; code-server gives them to all.
   */
  const LEFT_OUT = {
    // With the browser's network and without a permission.
    "scripts for webviews of others": ["markdown.previewScripts", "markdown.codeBlockEditors", "markdown.codeBlockEditorProviders", "notebookRenderer", "notebookPreload"],
    // Words that a language model obeys, which may have the user's tools.
    "instructions for language models": ["chatInstructions", "chatPromptFiles", "chatAgents", "chatSkills", "chatPlugins"],
    // Under a harmless name, or in a set of the editor's.
    "sets of others' tools": ["languageModelToolSets"],
    // They fetch pictures, also by what a document says, of which they need not be able to read a word.
    "style sheets for previews": ["markdown.previewStyles"],
    // It could hide what we say, and put our "Always" below a click that is meant for something else.
    "a style sheet for the whole window": ["css"],
    // The lists themselves are files, which say where schemas lie.
    "lists of JSON schemas": ["jsonValidationRegistry"],
    // They run any command when they are clicked, and nobody says whose they are.
    "items of the status bar that run by themselves": ["statusBarItems"],
    "commands for other machines": ["continueEditSession", "remoteHelp", "remoteCodingAgents"],
    "words in views of others": ["chatViewsWelcome"],
  };
  /** Points whose declarations are looked through below, or do nothing until code does, which runs in a compartment. */
  const KNOWN = new Set([
    ...Object.values(LEFT_OUT).flat(),
    "commands", "configuration", "configurationDefaults", "jsonValidation", "keybindings", "menus", "resourceLabelFormatters", "snippets",
    "views", "viewsContainers", "viewsWelcome", "walkthroughs",
    "authentication", "breakpoints", "chatContext", "chatOutputRenderers", "chatParticipants", "chatSessions", "colors", "customEditors",
    "debugVisualizers", "debuggers", "grammars", "iconThemes", "icons", "languageModelChatProviders",
    "languageModelTools", "languages", "linkPresentationProviders", "localizations", "mcpServerDefinitionProviders", "notebooks",
    "problemMatchers", "problemPatterns", "productIconThemes", "semanticTokenModifiers", "semanticTokenScopes", "semanticTokenTypes",
    "speechProviders", "submenus", "taskDefinitions", "terminal", "terminalQuickFixes", "themes",
  ]);
  /** A path that stays in the package's folder. */
  const isOwnFile = (/** @type {unknown} */ path) => typeof path === "string" && !/^[\w+.-]*:|(?:^|[\\/])(?:\.|%2e){2}(?:[\\/]|$)|%2f|%5c/i.test(path);
  /**
   * Where a schema may lie, which the editor's own JSON server loads with the user's rights: in the package, or
   * on a public server. Not in other files, and nowhere on this machine or, unencrypted, in its network.
   */
  const isSchemaAddress = (/** @type {unknown} */ url) => {
    if (typeof url !== "string") return false;
    if (/^\.\//.test(url)) return isOwnFile(url);
    if (/^vscode:\/\/schemas\//.test(url)) return true;
    try {
      const { protocol, hostname } = new URL(url);
      return protocol === "https:" && hostname.includes(".") && !/^[\d.]+$/.test(hostname) && !/(?:^|\.)(?:localhost|local|internal)\.?$/.test(hostname);
    } catch {
      return false;
    }
  };
  /** Settings that stand for files: tasks.json, launch.json, mcp.json. */
  const FILES = ["tasks", "launch", "mcp"];
  /** Families of which the editor has some members only later, or reads some that nobody declares; and ours. */
  const EDITORS_SETTINGS = new Set([...FILES, "bulkhead", "chat", "extensions", "security", "task", "terminal", "workbench"]);
  const MAX_DEPTH = 50;
  const MAX_TOLD = 100;
  /**
   * Every compartment's supervisor reads what all packages say, as one text, and builds nothing of one that is made to be
   * costly (src/vscode/json_text.h): with one package beyond that nobody's would start. Members of an object; values of a
   * package, a long text being several.
   */
  const MOST_MEMBERS = 2000;
  const MOST_VALUES = 200_000;
  const LONG = 32;
  /** VS Code makes a level of each part of a setting's name, in the one tree of all settings, and every compartment is told that. */
  const isDeepName = (/** @type {string} */ key) => key.length > 500 || key.split(".").length > MAX_DEPTH / 2;

  /** @typedef {{identifier: {value: string}, isBuiltin?: boolean, extensionLocation?: {path: string}, contributes?: any, bulkheadWithheld?: string[], bulkheadNotStarted?: object[]}} Description */
  const idOf = (/** @type {Description} */ description) => description.identifier.value.toLowerCase();
  const isCompanion = (/** @type {Description} */ description) => Boolean(companion) && description.extensionLocation?.path === companion;
  const isForeign = (/** @type {Description} */ description) =>
    !description.isBuiltin && !isCompanion(description);
  const listOf = (value) => (Array.isArray(value) ? value : value && typeof value === "object" ? [value] : []);
  /** For people, of what may be anything. */
  const named = (value) => (typeof value === "string" && value ? value : "nothing that has a name");
  const familyOf = (/** @type {string} */ id) => id.split(".")[0];
  /** Many packages begin with "extension.", as a template had it: of these the second word says whose it is. The broker has the same. */
  const commandFamilyOf = (/** @type {string} */ id) => id.split(".").slice(0, id.startsWith("extension.") ? 2 : 1).join(".");
  const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);

  const commandsOf = (/** @type {Description} */ description) =>
    listOf(description.contributes?.commands).map((one) => one?.command).filter((id) => typeof id === "string");
  /** Those too that keys and a debugger's variables name: packages need not declare what stands in no list. */
  const namedCommandsOf = (/** @type {Description} */ description) => [
    ...commandsOf(description),
    ...[...listOf(description.contributes?.keybindings).map((one) => one?.command),
      ...listOf(description.contributes?.debuggers).flatMap((one) => Object.values(one?.variables ?? {}))].filter((id) => typeof id === "string" && !id.startsWith("-")),
  ];
  /** All sections of settings, those too that stand in others, as old packages have them. What is nested too deep is taken out. */
  const sectionsOf = (configuration, depth = 0) =>
    listOf(configuration).filter((section) => section && typeof section === "object").flatMap((section) => {
      if (depth >= MAX_DEPTH) delete section.allOf;
      return [section, ...sectionsOf(section.allOf, depth + 1)];
    });
  const settingsOf = (/** @type {Description} */ description) =>
    sectionsOf(description.contributes?.configuration).flatMap((section) => Object.keys(section.properties ?? {}));
  /** "a" and "a.b" of "a.b.c". */
  const wholesOf = (/** @type {string} */ key) => key.split(".").slice(0, -1).map((_, i, parts) => parts.slice(0, i + 1).join("."));

  const viewsOf = (/** @type {Description} */ description) =>
    Object.values(description.contributes?.views ?? {}).flatMap(listOf).map((one) => one?.id).filter((id) => typeof id === "string");
  /** What stays one name where VS Code makes a style sheet's selector of it. */
  const isPlainId = (/** @type {unknown} */ id) => typeof id === "string" && /^[\w.:/-]+$/.test(id);
  /** Of the container and the views of our companion. */
  const isOurs = (/** @type {unknown} */ id) => typeof id === "string" && familyOf(id) === "bulkhead";
  const OUR_VIEWS = /^bulkhead\./;
  /** By what its conditions know where a menu stands. @type {[RegExp, string][]} */
  const MENUS = [[/^view\//, "view"], [/^(?:modalEditor\/)?editor/, "activeWebviewPanelId"], [/^webview\//, "webviewId"]];

  /** As the broker has it: a command is known by its own name. */
  const needsOf = (/** @type {string} */ command) => (has(commands, command) ? commands[command] : "commands-foreign");

  /**
   * Signs, or one word with signs about it: what languages have, and too little to say what to do. As the broker has it
   * for what code says (src/vscode/typed_text.cc).
   */
  const isTypedMark = (/** @type {string} */ text) => text.length <= 20 && !/[\u0000-\u0008\u000a-\u001f]/.test(text) && (text.match(/[\w\u0080-\uffff]+/g) ?? []).length < 2;
  const PATTERNS = /^(?:beforeText|afterText|previousLineText)$/;
  const TYPING = /^(?:comments|brackets|onEnterRules|autoClosingPairs|surroundingPairs|colorizedBracketPairs|__electricCharacterSupport|__characterPairSupport)$/;
  const isPlain = (value, depth = 0) =>
    typeof value === "string" ? isTypedMark(value)
      : !value || typeof value !== "object" || (depth < MAX_DEPTH && Object.entries(value).every(([key, one]) => PATTERNS.test(key) || isPlain(one, depth + 1)));

  /** Commands that write what they are given. */
  const TYPES = /^(?:default:)?(?:type|replacePreviousChar|compositionType)$/;
  /** What may stand beside one of these: it stays in the document, and runs nobody's code. */
  const STAYS = /^(?:editor\.action\.(?!(?:goTo|openLink|peek|reveal|show))|cursor|delete(?:Left|Right)$|lineBreakInsert$|tab$|outdent$|undo$|redo$)/;
  /** Whose documents a pattern means: those of a suffix, or of one name. Not whatever a person opens. */
  const isOfSomeFiles = (/** @type {unknown} */ pattern) => typeof pattern === "string" && /(?:^|[./])(?:[\w-]+(?:\.[\w-]+)*|\{[\w-]+(?:[.,][\w-]+)*\})$/.test(pattern);

  /** Of what the window types by itself in documents of a language, what is plain. */
  function plainTyping(configuration) {
    for (const [key, value] of Object.entries(configuration)) {
      if (!TYPING.test(key) || isPlain(value)) continue;
      if (Array.isArray(value)) configuration[key] = value.filter((one) => isPlain(one));
      else configuration[key] = value && typeof value === "object" ? Object.fromEntries(Object.entries(value).filter(([, one]) => isPlain(one))) : undefined;
    }
    return configuration;
  }

  const NO_LETTER = /^(?:f\d+|esc(?:ape)?|enter|tab|backspace|delete|insert|home|end|page(?:up|down)|(?:up|down|left|right)(?:arrow)?|capslock|numlock|scrolllock|pausebreak|contextmenu|(?:browser|audio|media|launch)\w*)$/;
  /** Whether a key, or the first of several, is one by which people write. */
  const isWritten = (/** @type {string} */ keys) => {
    const [first] = keys.trim().toLowerCase().split(/\s+/);
    const [, modifiers, key] = /^((?:(?:ctrl|shift|alt|meta|win|cmd)[+-])*)(.*)$/.exec(first) ?? [];
    return !/ctrl|alt|meta|win|cmd/.test(modifiers) && key !== "" && !NO_LETTER.test(key.replace(/^\[(.*)\]$/, "$1").replace(/^arrow/, ""));
  };

  /**
   * Whether a condition holds only while nobody writes. One that VS Code cannot read always holds for it, so each part is plain.
   * @param {unknown} when
   */
  const isOutsideInputs = (when) => {
    if (typeof when !== "string") return false;
    const parts = when.split("&&").map((one) => one.trim());
    return parts.includes("!inputFocus") && parts.every((one) => /^(?:!?[\w.:-]+|[\w.:-]+ *[!=]= *[\w.:-]+)$/.test(one) && !/(?:^|\W)(?:in|not)(?:\W|$)/.test(one));
  };

  /** What a line of contributes.keybindings runs, one after the other. @returns {{command: string, args?: any}[]} */
  const stepsOf = (one, depth = 0) =>
    one?.command === "runCommands" && depth < 5 ? listOf(one.args?.commands).flatMap((each) => stepsOf(each, depth + 1)) : [typeof one === "string" ? { command: one } : one];

  /**
   * What edits does so in whatever document has the focus: with arguments it would write there what they say.
   * @param {string} command @param {boolean} bare without arguments that somebody else chose
   */
  const isHarmless = (command, bare) => HARMLESS.has(needsOf(command)) &&
    (bare || (!ARGUMENTS.test(command) && (needsOf(command) !== "workspace-edit" || command.startsWith("editor.action."))));

  /** Commands that exist before any extension has run: the editor's own. */
  let editors;
  const editorsCommands = () => (editors ??= new Set(globalThis.bulkhead.commandRegistry?._commands?.keys()));

  /** @type {string[] | undefined} that exist before any package has declared some: the editor's own */
  let colors;
  /** Colours of the editor and of its own extensions. @param {Description[]} all */
  const editorsColors = (all) => new Set([
    ...(colors ??= Object.keys(globalThis.bulkhead.colorRegistry ?? {})),
    ...all.filter((one) => !isForeign(one)).flatMap((one) => listOf(one.contributes?.colors)).map((one) => one?.id),
  ]);

  /**
   * Settings of the editor, of which its registry names no extension, and of its own extensions; what stands above them; and
   * the families of the former.
   * @param {Description[]} all
   */
  function editorsSettings(all) {
    const keys = new Set(all.filter((one) => !isForeign(one)).flatMap(settingsOf));
    const core = Object.entries(globalThis.bulkhead.settingsRegistry ?? {}).flatMap(([key, setting]) => (setting?.source ? [] : [key]));
    for (const key of core) keys.add(key);
    return { keys, wholes: new Set([...keys].flatMap(wholesOf)), families: new Set([...EDITORS_SETTINGS, ...core.map(familyOf)]) };
  }

  /** What one foreign package may name. */
  class Names {
    /** @param {Description} description @param {Description[]} all @param {ReturnType<typeof editorsSettings>} theirs */
    constructor(description, all, theirs) {
      const others = all.filter((other) => idOf(other) !== idOf(description));
      const builtin = others.filter((other) => !isForeign(other));
      const taken = new Set(builtin.flatMap(commandsOf));
      const existing = editorsCommands();
      const declared = new Set(others.flatMap(commandsOf));
      const declares = new Set(commandsOf(description));
      this.own = new Set(namedCommandsOf(description).filter((id) =>
        !taken.has(id) && !existing.has(id) && !has(commands, id) && !id.startsWith("_") && !EDITORS.has(familyOf(id)) && (declares.has(id) || !declared.has(id))));
      // Built-in extensions have commands that they do not declare: whoever declares one of their family
      // may mean one of those. Where two foreign packages declare the same, it is nobody's.
      const families = new Set(builtin.flatMap((other) => [...commandsOf(other).map(commandFamilyOf), idOf(other).split(".").slice(1).join(".")]));
      const named = new Set(others.flatMap(namedCommandsOf));
      this.shared = new Set([...this.own].filter((id) => declared.has(id) || (named.has(id) && !declares.has(id)) || families.has(commandFamilyOf(id))));
      const views = new Set(viewsOf(description));
      this.othersViews = new Set(others.filter(isForeign).flatMap(viewsOf).filter((id) => !views.has(id)));
      const settings = new Set(others.flatMap(settingsOf));
      this.theirs = theirs;
      this.settings = new Set(settingsOf(description).filter((key) => !settings.has(key) && this.setting(key)));
    }

    /**
     * A setting that it may declare. VS Code keeps the defaults of all in one tree: that of "git" takes the place of
     * git.path, that of "terminal.integrated.env.linux.X" becomes a part of what is set there, and "__proto__.x" one
     * of every object of the window. "debug.mine" would stand among the editor's own, and whoever reads all of "debug" has it.
     * @param {string} key
     */
    setting(key) {
      if (key.split(".").includes("__proto__") || isDeepName(key)) return false;
      if (this.theirs.families.has(familyOf(key))) return false;
      return !this.theirs.keys.has(key) && !this.theirs.wholes.has(key) && !wholesOf(key).some((whole) => this.theirs.keys.has(whole));
    }

    /** @param {unknown} command @param {boolean} [bare] without arguments that the package chose */
    command(command, bare = false) {
      return typeof command === "string" && (this.own.has(command) ? this.isOwn(command, bare) : isHarmless(command, bare));
    }

    /** @param {string} command @param {boolean} bare */
    isOwn(command, bare) {
      return this.own.has(command) && (bare || !this.shared.has(command));
    }

    /** One line of contributes.keybindings. */
    keybinding({ command, args }, depth = 0) {
      if (command === undefined || command === "") return true;
      if (typeof command === "string" && command.startsWith("-")) return this.own.has(command.slice(1)); // takes a key away
      if (command === "runCommands" && depth < 5) {
        const each = args?.commands;
        if (!Array.isArray(each) || !each.every((one) => (typeof one === "string" ? this.command(one, true) : one && typeof one === "object" && this.keybinding(one, depth + 1) && one.command !== undefined))) return false;
        // Of pieces a whole is made, and beside other commands it may be written elsewhere.
        const steps = stepsOf({ command, args });
        const typed = steps.filter((one) => TYPES.test(one.command) && one.args?.text !== "\n").length;
        return typed === 0 || (typed === 1 && steps.every((one) => TYPES.test(one.command) || STAYS.test(one.command)));
      }
      // Into whatever document has the focus.
      if (typeof command === "string" && TYPES.test(command)) return args?.text === "\n" || isPlain(args ?? "");
      return this.command(command, args === undefined);
    }

    /**
     * Whether a line of contributes.keybindings hears what a person writes, wherever that is: a key that writes, for a command
     * of its own, one that asks it for something, or several, of which the last would write the letter.
     */
    hears({ key, linux, mac, win, when, command, args }) {
      if (![key, linux, mac, win].some((one) => typeof one === "string" && isWritten(one))) return false;
      if (isOutsideInputs(when)) return false;
      if (command === undefined || command === "" || (typeof command === "string" && command.startsWith("-"))) return false;
      return args !== undefined || this.own.has(command) || needsOf(command) === "languages";
    }

    /** command:ID?ARGUMENTS, without its scheme */
    link(rest) {
      const [path, ...query] = rest.split(/[?#]/);
      try {
        return this.command(decodeURIComponent(path), query.join("") === "");
      } catch {
        return false;
      }
    }
  }

  /** What a reader of Markdown or HTML makes of a link's target. */
  const plainly = (text) =>
    text
      .replace(/&#(?:x([0-9a-f]+)|(\d+));?/gi, (whole, hex, digits) => {
        const point = hex ? parseInt(hex, 16) : Number(digits);
        return point < 0x110000 ? String.fromCodePoint(point) : whole;
      })
      .replace(/&colon;/gi, ":")
      .replace(/&(?:Tab|NewLine);/g, "")
      .replace(/[\\\s\u0000-\u001f]/g, "");

  /** @param {string} text @param {Names} names @param {(what: string) => void} tell */
  function textWithoutLinks(text, names, tell) {
    const refused = (target) => {
      const plain = plainly(target);
      if (!/^command:/i.test(plain) || (/^command:/i.test(target) && names.link(target.slice("command:".length)))) return false;
      tell(`a link to ${plain.slice("command:".length).split("?")[0] || "a command"}`);
      return true;
    };
    return text
      .replace(/\[([^\]]*)\]\(\s*<?([^\s)>]*)[^)]*\)/g, (whole, label, target) => (refused(target) ? label : whole))
      .replace(/(\]\(\s*<?|\]:\s*<?|<|href\s*=\s*["']?)([^\s)>"']+)/gi, (whole, before, target) => (refused(target) ? `${before}#` : whole));
  }

  /** Every text in a declaration, in place. What is nested too deep to look at is taken out. */
  function disarmTexts(value, names, tell, depth = 0) {
    for (const key of Object.keys(value)) {
      const one = value[key];
      if (typeof one === "string") value[key] = textWithoutLinks(one, names, tell);
      else if (one && typeof one === "object") {
        if (depth < MAX_DEPTH) disarmTexts(one, names, tell, depth + 1);
        else delete value[key];
      }
    }
  }

  /**
   * Takes out, in place, what is nested too deep and members beyond the first ones.
   * @returns {number} how much there is then
   */
  function trim(value, depth = 1) {
    if (typeof value === "string") return 1 + value.length / LONG;
    if (!value || typeof value !== "object") return 1;
    let size = 1;
    const isList = Array.isArray(value);
    for (const [i, key] of Object.keys(value).entries()) {
      const one = value[key];
      const isDeep = depth >= 2 * MAX_DEPTH && one && typeof one === "object";
      if (isDeep && isList) value[key] = null;
      else if (isDeep || (!isList && i >= MOST_MEMBERS)) delete value[key];
      else size += key.length / LONG + trim(one, depth + 1);
    }
    return size;
  }

  /** A package that says more than others can be told loses the largest parts of it. @param {Description} description @returns {string[]} what */
  function bound(description) {
    const parts = Object.keys(description).map((key) => /** @type {[string, number]} */ ([key, trim(description[key])])).sort(([, a], [, b]) => b - a);
    let left = parts.reduce((sum, [, size]) => sum + size, 0);
    const gone = [];
    for (const [key, size] of parts) {
      if (left <= MOST_VALUES) break;
      delete description[key];
      left -= size;
      gone.push(`${key.slice(0, 50)}, which is too much to be read`);
    }
    return gone;
  }

  const kept = (list, keep) => (Array.isArray(list) ? list.filter((one) => one && typeof one === "object" && keep(one)) : list && typeof list === "object" && keep(list) ? list : []);

  /** Names of fonts, and nothing that ends a rule of the style sheet that VS Code writes them into. */
  const fontOf = (/** @type {unknown} */ text) =>
    typeof text === "string" && /^(?:[\p{L}\p{M}\p{N} ,._+-]|'[^'"\\{};\p{Cc}]*'|"[^'"\\{};\p{Cc}]*")*$/u.test(text) ? text : "inherit";

  /** The fonts in a setting, in place, at whatever depth. */
  function plainFonts(value, depth = 0) {
    if (!value || typeof value !== "object") return;
    for (const key of Object.keys(value)) {
      if (/fontFamily$/i.test(key) && value[key] !== fontOf(value[key])) delete value[key];
      else if (depth < MAX_DEPTH) plainFonts(value[key], depth + 1);
      else delete value[key];
    }
  }

  const withoutClipboard = (/** @type {string} */ snippet) => snippet.replace(/\$(\{?)CLIPBOARD(?!\w)/g, "$$$1WITHHELD");

  /** Commands that the editor's own extensions make links of, which open a file and no more. */
  const LINKED = new Set(["_typescript.openExtendsLink"]);
  const linkedCommand = (/** @type {unknown} */ url) =>
    typeof url === "string" ? /^\s*command:([^?#]*)/i.exec(url)?.[1] : String(url?.["scheme"]).toLowerCase() === "command" ? String(url?.["path"]) : undefined;

  /** What stands behind each "${": nothing where that is no plain variable. A setting's value, or a name in a name, may be another one. */
  const variablesIn = (/** @type {unknown} */ value) => JSON.stringify(value).split("${").slice(1).map((rest) => /^(\w+)(?::([\w .-]+))?\}/.exec(rest) ?? []);

  /** Default settings: one's own, how text looks, and for languages how it is handled too. */
  function defaultsFor(defaults, names, tell, isLanguage = false) {
    plainFonts(defaults);
    const chosen = {};
    for (const [key, value] of Object.entries(defaults)) {
      if (key.split(".").includes("__proto__") || isDeepName(key)) tell(`a default for the setting ${key}`);
      else if (/^(?:\[.+\])+$/.test(key) && value && typeof value === "object") chosen[key] = defaultsFor(value, names, tell, true);
      else if (names.settings.has(key) && !settingFamilies.includes(familyOf(key)) && !FILES.includes(familyOf(key))) chosen[key] = value;
      else if (isLanguage && key === ON_SAVE && onSave(value)) chosen[key] = onSave(value);
      else if (LOOKS.test(key) || (isLanguage && HANDLES.test(key))) chosen[key] = value;
      else tell(`a default for the setting ${key}`);
    }
    return chosen;
  }

  /** @param {Description} description @param {Description[]} all @param {ReturnType<typeof editorsSettings>} theirs */
  function disarm(description, all, theirs) {
    delete description.bulkheadWithheld; // nobody else's word
    const withheld = new Set(bound(description));
    const { contributes } = description;
    if (contributes && typeof contributes === "object") disarmContributes(description, contributes, all, theirs, withheld);
    if (withheld.size === 0) return;
    description.bulkheadWithheld = [...withheld];
    console.warn(`bulkhead: what ${description.identifier.value} declares has been left out in part: ${[...withheld].join("; ")}`);
  }

  /** @param {Description} description @param {any} contributes @param {Description[]} all @param {ReturnType<typeof editorsSettings>} theirs @param {Set<string>} withheld */
  function disarmContributes(description, contributes, all, theirs, withheld) {
    const names = new Names(description, all, theirs);
    const tell = (what) => void (withheld.size < MAX_TOLD && withheld.add(what.slice(0, 200)));
    const keepIf = (test, what) => (one) => test(one) || (tell(what(one)), false);

    // First, for afterwards a command would have lost its name. Its title is what a person reads when they
    // run somebody else's.
    if (contributes.commands) contributes.commands = kept(contributes.commands, keepIf((one) => names.own.has(one.command), (one) => `the command ${named(one.command)}, which is not its own`));
    if (contributes.keybindings) contributes.keybindings = kept(contributes.keybindings, keepIf((one) => names.keybinding(one) && !names.hears(one), (one) => `the key ${named(one.key)} for ${named(one.command)}`));
    if (contributes.menus && typeof contributes.menus === "object")
      for (const menu of Object.keys(contributes.menus)) {
        // What stands in the palette by itself does so no more where somebody says when.
        const may = (command) => (menu === "commandPalette" ? names.own.has(command) : names.command(command, true));
        contributes.menus[menu] = kept(contributes.menus[menu], keepIf((one) => one.command === undefined || may(one.command), (one) => `${named(one.command)} in the menu ${menu}`));
        for (const one of listOf(contributes.menus[menu])) if (one.alt !== undefined && !may(one.alt)) delete one.alt;
      }
    // Who shows something beside our view, or in somebody's empty one, speaks as they do there.
    for (const point of ["views", "viewsContainers"]) {
      if (!contributes[point] || typeof contributes[point] !== "object") continue;
      for (const place of Object.keys(contributes[point])) {
        if (isOurs(place)) {
          tell("a view among those of Bulkhead");
          delete contributes[point][place];
        } else {
          contributes[point][place] = kept(contributes[point][place], keepIf((one) => !isOurs(one.id) && isPlainId(one.id), (one) => `the view ${named(one.id)}`));
        }
      }
    }
    if (contributes.viewsWelcome) contributes.viewsWelcome = kept(contributes.viewsWelcome, keepIf((one) => !isOurs(one.view) && !names.othersViews.has(one.view), (one) => `words in the view ${named(one.view)}`));
    for (const { properties } of sectionsOf(contributes.configuration))
      for (const key of Object.keys(properties ?? {}))
        if (!names.setting(key)) {
          tell(`the setting ${key}, which is the editor's`);
          delete properties[key];
        }
    // A new default for one of the editor's would change the window, and one that leads to itself would stop it.
    if (contributes.colors) {
      const known = editorsColors(all);
      contributes.colors = kept(contributes.colors, keepIf(
        ({ id, defaults }) => !known.has(id) && Object.values(defaults ?? {}).every((one) => known.has(one) || /^#/.test(one)) && Boolean(known.add(id)),
        (one) => `the colour ${named(one.id)}`));
    }
    if (contributes.configurationDefaults && typeof contributes.configurationDefaults === "object")
      contributes.configurationDefaults = defaultsFor(contributes.configurationDefaults, names, tell);
    for (const [what, left] of Object.entries({ ...LEFT_OUT, "what nobody has looked through": points.filter((point) => !KNOWN.has(point)) }))
      for (const point of left) {
        // The same word with custom data in it is for CSS files.
        if (!contributes[point] || (point === "css" && !Array.isArray(contributes.css))) continue;
        tell(`${what} (${point})`);
        delete contributes[point];
      }
    // Where a file lies is what a person reads before saving it.
    if (contributes.resourceLabelFormatters) contributes.resourceLabelFormatters = kept(contributes.resourceLabelFormatters, keepIf((one) => !["file", "vscode-remote"].includes(one.scheme), () => "other names for files"));
    // "${command:pick}" in a person's own launch.json runs what a package says it means, also for a type of others.
    for (const one of listOf(contributes.debuggers))
      for (const [variable, command] of Object.entries(one?.variables ?? {}))
        if (!names.command(command)) {
          tell(`${named(command)} for the variable ${variable}`);
          delete one.variables[variable];
        }
    // One click writes these into launch.json, which packages do not write otherwise, and the next one starts the first of them.
    const types = new Set(listOf(contributes.debuggers).map((one) => one?.type));
    for (const other of all) if (other !== description) for (const one of listOf(other.contributes?.debuggers)) types.delete(one?.type);
    for (const one of listOf(contributes.debuggers))
      if (one?.initialConfigurations)
        one.initialConfigurations = kept(one.initialConfigurations, keepIf(
          (start) => types.has(start.type) && variablesIn(start).every(([, name, id]) => (name === "command" ? has(one.variables ?? {}, id) || names.command(id) : name && name !== "config")),
          (start) => `the configuration ${named(start.name)}, which starts what is not its own`));
    // Pictures and pages of the web are fetched as they are shown. A step without any would take its walkthrough along.
    for (const step of listOf(contributes.walkthroughs).flatMap((one) => listOf(one?.steps))) {
      const { altText, ...files } = step?.media ?? {};
      if (Object.values(files).flatMap((one) => (one && typeof one === "object" ? Object.values(one) : [one])).every(isOwnFile)) continue;
      tell(`the picture of the step ${named(step.title)}, which is no file of its own`);
      step.media = { image: "withheld", altText };
    }
    // The editor's own tools have had other names, by which people and instructions still call them.
    for (const one of listOf(contributes.languageModelTools)) delete one?.legacyToolReferenceFullNames;
    // By a button beside its models, with whatever name the vendor has; the window's own chats have no package.
    for (const one of listOf(contributes.languageModelChatProviders))
      if (one?.managementCommand !== undefined && !names.own.has(one.managementCommand)) {
        tell(`${named(one.managementCommand)} to manage models`);
        delete one.managementCommand;
      }
    // Who answers where nobody is named, and is given what was said to others.
    for (const one of listOf(contributes.chatParticipants))
      for (const key of ["isDefault", "isAgent", "modes", "locations"])
        if (one?.[key] !== undefined) {
          tell(`${key} of the chat participant ${named(one.name)}`);
          delete one[key];
        }
    if (contributes.chatSessions) contributes.chatSessions = kept(contributes.chatSessions, keepIf((one) => !isEditorsChat(one.type), (one) => `chats of the type ${named(one.type)}`));
    for (const one of listOf(contributes.chatSessions)) delete one.alternativeIds;
    // They are given each file that a person opens with them.
    for (const point of ["customEditors", "notebooks"])
      for (const one of listOf(contributes[point]))
        if (one && typeof one === "object" && one.priority !== "option" && !listOf(one.selector).every((each) => isOfSomeFiles(each?.filenamePattern))) {
          tell(`${named(one.viewType ?? one.type)} as the viewer of all files`);
          one.priority = "option";
        }
    if (contributes.jsonValidation) contributes.jsonValidation = kept(contributes.jsonValidation, keepIf((one) => isSchemaAddress(one.url), (one) => `the JSON schema ${named(one.url)}`));
    // The editor's own servers read these with the user's rights, and an address is opened as a document.
    for (const point of ["html", "css"])
      if (contributes[point]?.customData)
        contributes[point].customData = listOf(contributes[point].customData).filter(keepIf(isOwnFile, (one) => `the ${point} data ${named(one)}`));
    disarmTexts(contributes, names, tell);
  }

  // Whose a message is stands beside its buttons, which give way to it: with many of them "Bulkhead" and
  // "Bulkhead (evil.id)" would be cut to the same. A theme would have the message seen, and not that.
  const style = globalThis.document?.createElement("style");
  if (style) {
    style.textContent = ".notification-list-item .notification-list-item-source{flex:none!important;max-width:75%;padding-right:6px;font-size:85%!important}" +
      ".notification-list-item .notification-list-item-buttons-container{flex:1 1 0!important;min-width:0}" +
      ".notification-list-item .notification-list-item-buttons-container .monaco-button{padding-left:3px!important;padding-right:3px!important;margin-left:1px!important;margin-right:1px!important}" +
      ".notification-list-item .notification-list-item-buttons-container>:first-child{margin-left:auto!important}" +
      ".monaco-workbench :is(.notification-list-item-source,.quick-input-title){color:#3b3b3b!important;background:#f3f3f3!important}" +
      ".monaco-workbench:is(.vs-dark,.hc-black) :is(.notification-list-item-source,.quick-input-title){color:#d4d4d4!important;background:#1e1e1e!important}";
    document.head.append(style);
  }
  /** @type {{id: string, name: string, version: string, why: string}[]} extensions that do not run, for the companion */
  const notStarted = [];
  const tellNotStarted = (/** @type {any} */ description, /** @type {string} */ why) => {
    const { identifier, version } = description;
    if (notStarted.length < MAX_TOLD && !notStarted.some(({ id }) => id === identifier.value))
      notStarted.push({ id: identifier.value, name: globalThis.bulkhead.nameOf(description), version: typeof version === "string" ? version : "", why });
  };
  /** @type {Map<string, Names>} */
  const names = new Map();
  /** @type {string | undefined} the companion's id */
  let asker;
  /** @type {Set<string>} ids of the editor's own */
  const trusted = new Set();
  /**
   * Beside what is harmless: what a person does with the keys while a webview has the focus, and moves nothing but the
   * window's parts.
   */
  const PRESSED = new RegExp(`^(?:${[
    "undo", "redo", "workbench\\.action\\.files\\.save",
    "editor\\.action\\.webvieweditor\\..*", "list\\..*", "notebook\\.(?:focus.*|cell\\.(?:collapse|edit|expand|quitEdit).*)",
    "workbench\\.action\\.(?:closeWindow|findInFiles|keepEditor|reopenClosedEditor|togglePanel|toggleSidebarVisibility|toggleAuxiliaryBar)",
    "workbench\\.action\\.(?:files\\.(?:newUntitledFile|openFile|openFolder|openFileFolder)|(?:next|previous)Editor.*|openEditorAtIndex\\d|splitEditor.*|zoom.*)",
    "workbench\\.action\\.(?:open(?:Next|Previous)RecentlyUsedEditor.*|quickOpen(?:Next|Previous|Least).*|quickchat\\.toggle)",
  ].join("|")})$`);
  /** @type {{ id: string | undefined } | undefined} whose webview says that a key was pressed in it */
  let pressed;
  const anyCommand = Symbol("any command");
  Object.assign(globalThis.bulkhead, {
    /** What a link is given that may run every command, as links.mjs says where. No host can name it. */
    anyCommand,
    /**
     * Extensions enter the workbench's registry. Changes their descriptions.
     * @param {Description[]} added
     * @param {Description[]} present
     */
    disarm(added, present) {
      const all = [...present, ...added];
      for (const description of added) globalThis.bulkhead.unmask(description);
      const theirs = editorsSettings(all);
      for (const description of added) {
        if (isCompanion(description)) {
          description.bulkheadNotStarted = notStarted;
          asker = idOf(description);
        }
        if (!isForeign(description)) {
          trusted.add(idOf(description));
          continue;
        }
        trusted.delete(idOf(description));
        if (globalThis.bulkhead.isImpostor(description)) {
          bound(description);
          description.contributes = {};
          tellNotStarted(description, "impostor");
          continue;
        }
        try {
          disarm(description, all, theirs);
          names.set(idOf(description), new Names(description, all, theirs));
        } catch (error) {
          console.error(`bulkhead: the declarations of ${description.identifier?.value} cannot be read, so none of them count:`, error);
          description.contributes = {};
        }
      }
    },
    fontOf,
    /** Whether a message is an extension's in a compartment. @param {string | undefined} id whose it is; none of the window's own */
    isLookedThrough: (id) => typeof id === "string" && names.has(id.toLowerCase()),
    /** Whether a message is Bulkhead's. @param {string | undefined} id whose it is; none of the window's own */
    isAskers: (id) => id !== undefined && id.toLowerCase() === asker,
    /** Whose tools are the editor's. @param {Description} description */
    isEditors: (description) => !isForeign(description),
    /**
     * When an item of a package's menu is shown. Without a condition, or with one that VS Code cannot read, it would stand in
     * every view and on every page, and do what it does beside our words.
     * @param {Description} description
     * @param {string} menu
     * @param {object | undefined} declared its own condition, as VS Code read it
     * @param {any} conditions VS Code's, which makes them
     */
    menuCondition(description, menu, declared, conditions) {
      const key = isForeign(description) && MENUS.find(([start]) => start.test(menu))?.[1];
      return key ? conditions.and(declared, conditions.regex(key, OUR_VIEWS).negate()) : declared;
    },
    /**
     * A text of a style sheet in its quotes. Icons are written as escapes (`\\e030`), so these stay; any other "\\", or
     * the end of a line, would end the text somewhere else.
     * @param {unknown} text
     */
    cssText: (text) => `'${String(text).replace(/['\n\r\f]|\\(?![\da-f])/gi, (sign) => `\\${sign.charCodeAt(0).toString(16).padStart(6, "0")}`)}'`,
    /** Whether a browser that follows the link asks this server. @param {unknown} link a text or VS Code's URI */
    isOwnAddress(link) {
      try {
        const { hostname } = new URL(String(link));
        return hostname === location.hostname || hostname.endsWith(`.${location.hostname}`);
      } catch {
        return true;
      }
    },
    /**
     * A webview's scripts can say so of any key, and none was pressed.
     * @param {string | undefined} id of the extension whose webview it is; notebooks' is nobody's
     * @param {() => void} press
     */
    pressedIn(id, press) {
      pressed = { id: id?.toLowerCase() };
      try {
        press();
      } finally {
        pressed = undefined;
      }
    },
    /**
     * Of a key that was found to mean a command.
     * @param {string | null} command
     * @param {unknown} args
     */
    mayPress(command, args) {
      if (!pressed || !command || (pressed.id && trusted.has(pressed.id))) return true;
      if (PRESSED.test(command)) return true;
      const bare = args === undefined;
      if (pressed.id && names.get(pressed.id)?.isOwn(command, bare)) return true;
      // What edits does so in the document beside it, which a person may have there for other reasons.
      return isHarmless(command, bare) && needsOf(command) !== "workspace-edit";
    },
    /** What has code for the browser only was left where it is. VS Code forgets it, so nobody else can tell. */
    notInBrowser: (/** @type {any} */ description) => tellNotStarted(description, "browser"),
    /**
     * The folder of a host's logs: VS Code's own host has the window's, each other one its own beside it.
     * @param {{ path: string, with: (changed: { path: string }) => any }} folder
     * @param {{ affinity?: number }} location
     */
    logsOf: (folder, { affinity }) => (affinity ? folder.with({ path: `${folder.path}-${affinity}` }) : folder),
    /**
     * Markdown's language server has whatever stands in a document for an address. What a compartment says has been looked
     * through on its way.
     * @param {{ url?: unknown }[]} links
     * @param {boolean} isCompartment
     */
    documentLinks: (links, isCompartment) => (isCompartment ? links : links.filter(({ url }) => {
      const command = linkedCommand(url);
      return command === undefined || LINKED.has(command);
    })),
    /**
     * A language's configuration, as it is read of a package.
     * @param {{ scheme: string, authority: string, path: string }} file
     */
    languageConfiguration: (file, configuration) => (globalThis.bulkhead.isShippedFile(file) ? configuration : plainTyping(configuration)),
    /**
     * A snippet of a package, as it is read; those of a person have no extension.
     * @param {Description | undefined} extension
     * @param {string} body
     */
    snippet: (extension, body) => (extension && isForeign(extension) ? withoutClipboard(body) : body),
    /**
     * What stands for the clipboard in a completion. The editor's own extensions make snippets of what documents, schemas and
     * settings say, and whoever can read the document would read it there. The broker has looked through a compartment's.
     * @param {{ completion: object, extensionId?: { value: string } }} item
     * @param {string | undefined} text
     */
    clipboardFor: ({ completion, extensionId }, text) => ("snippet" in completion || (extensionId && !trusted.has(extensionId.value.toLowerCase())) ? text : undefined),
    withoutClipboard,
    /**
     * For the pages of a walkthrough, which are files of the package: whose links may run which commands.
     * @param {string | undefined} step "publisher.name#walkthrough#step"; the editor's own have no "#"
     * @returns {symbol | string[]} as the workbench's opener takes it
     */
    walkthroughCommands(step) {
      if (typeof step !== "string") return [];
      if (!step.includes("#")) return anyCommand;
      const id = step.split("#")[0].toLowerCase();
      if (trusted.has(id)) return anyCommand;
      const found = names.get(id);
      if (!found) return [];
      return [...[...found.own].filter((id) => !found.shared.has(id)), ...Object.keys(commands).filter((id) => isHarmless(id, false))];
    },
  });
})();

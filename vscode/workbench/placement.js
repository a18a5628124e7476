// Which extension runs in which host. Loaded before the workbench, in the browser; trusted.
//
// Affinity 0 is VS Code's own host: our companion, and the built-in extensions that start no program
// (launcher/builtins.mjs). The built-in ones that do share a compartment. Every other extension gets a host
// of its own; extensions that depend on one another with exports share one, because VS Code hands exports
// over within a host only.
(() => {
  "use strict";
  /**
   * Settings that the launcher wrote into the page: { builtin: string[], confined: string[], shipped: string[], companion: string }.
   * `builtin` are those that the user named, `confined` the others that get a compartment, which they share.
   */
  const settings = globalThis.bulkheadSettings ?? { builtin: [], confined: [], shipped: [], companion: "" };
  /** @type {Map<string, number>} extension id → affinity */
  const placed = new Map();
  /** @type {Map<number, Set<string>>} affinity → extension ids */
  const members = new Map();
  let last = 0;
  /** @type {Map<number, {at: number, count: number, waits: boolean}>} affinity → its last end, how many in a row, whether it pauses */
  const ends = new Map();
  /** @type {WeakMap<object, string>} */
  const numbers = new WeakMap();
  let proxies = 0;
  const FIRST_PAUSE = 1000;
  const LONGEST_PAUSE = 5 * 60 * 1000;
  const CALM = 10 * 60 * 1000;
  /** The workbench's state without folder and workspace file. */
  const EMPTY_WINDOW = 1;
  /** How long a compartment may take to hear which extensions the window has now. */
  const PATIENCE = 2000;
  /** How long to begin its own, as long as VS Code waits for those that always begin; and PATIENCE once that was too short. */
  const LONG_PATIENCE = 30 * 1000;
  /** @type {WeakSet<object>} managers of those for which it was */
  const late = new WeakSet();
  /** @type {WeakMap<Promise<void>, Promise<void>>} what a host answers an event with → what the window waits for */
  const waits = new WeakMap();
  /** How long a host may take until a person is told that it is missing, since it was asked for. */
  const OVERDUE = 20 * 1000;
  /** How long it may take until it is known whether the folder is trusted. */
  const TRUST_PATIENCE = 10 * 1000;
  /** VS Code's word for an extension that does not run because the folder is not trusted. */
  const BY_TRUST = 0;
  /** How long what a host is for may take to be known; without it the compartment waits for the first message. */
  const IDENTITY_PATIENCE = 5 * 1000;
  /** The workbench's extension service, and what starts the hosts that are missing: known with the first one. @type {any} */
  let service;
  let start = () => {};
  /** @type {Map<number, {at: number, since: number, error: string}>} affinity → when its host was asked for, since when there is none, and what came of that */
  const asked = new Map();
  /** Characters; Linux takes 128 KiB, and each may be of several bytes. */
  const LONGEST_IDENTITY = 32 * 1024;
  /** Whether it comes before that, or is none any more. @param {Promise<unknown>} answer @param {number} patience */
  const inTime = (answer, patience) => Promise.race([answer.then(() => true, () => true), new Promise((resolve) => setTimeout(resolve, patience))]);
  /** 0 for every host that is no compartment: VS Code's own, and those in the browser. */
  const affinityOf = (manager) => {
    const location = manager._extensionHost?.runningLocation;
    return location?.kind === 3 ? (location.affinity ?? 0) : 0;
  };
  /** Which window this is: its hosts and its companion find each other by it. */
  const window_ = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const page = new URLSearchParams(location.search);

  /** Addresses, of which one may come as JSON. */
  const isSame = (uri, other) => Boolean(uri) && ["scheme", "authority", "path", "query", "fragment"].every((part) => (uri[part] ?? "") === (other[part] ?? ""));

  const idOf = (extension) => extension.identifier.value.toLowerCase();
  /** What a package calls itself, which may be anything: of an object that has a member `toString` no text can be made. */
  const nameOf = ({ displayName, name }) => [displayName, name].find((one) => typeof one === "string") ?? "";
  const dependenciesOf = (extension) =>
    (extension.extensionDependencies ?? []).map((id) => id.toLowerCase());
  // By the folder that we installed it in, never by its name: anybody can take a name.
  const isCompanion = (extension) =>
    Boolean(settings.companion) && extension.extensionLocation?.path === settings.companion;
  /** The folder of built-in extensions, which nothing is installed into: our companion is one of them. */
  const shipped = settings.companion.replace(/[^/]*$/, "");
  const isShipped = ({ scheme, authority, path = "" } = {}) =>
    scheme === "vscode-remote" ? Boolean(shipped) && path.startsWith(shipped) && !path.slice(shipped.length).includes("/") : /^https?$/.test(scheme) && authority === location.host;
  /** A file of such an extension. */
  const isShippedFile = ({ scheme, authority, path = "" } = {}) => isShipped({ scheme, authority, path: path.slice(0, shipped.length) + path.slice(shipped.length).split("/")[0] });
  /**
   * In VS Code a package that is installed with a built-in extension's id and a higher version takes its place, and is
   * said to be built in itself. It is somebody's like all others.
   */
  function unmask(extension) {
    if (extension?.isBuiltin && !isShipped(extension.extensionLocation)) extension.isBuiltin = false;
  }
  const shippedIds = new Set(settings.shipped);
  /** Its compartment is not made (src/vscode/confinement.cc), for an id gives storage and secrets. */
  const isImpostor = (extension) => shippedIds.has(idOf(extension)) && !isShipped(extension.extensionLocation) && !isCompanion(extension);
  /** TypeScript's own extension, which loads the plug-ins that others declare into its servers. */
  const TYPESCRIPT = "vscode.typescript-language-features";
  const hasPlugins = (extension) => (extension.contributes?.typescriptServerPlugins ?? []).length > 0;
  // Code too: a package of plug-ins alone would run in TypeScript's servers outside, and the main host starts the
  // adapters of the debuggers that its packages declare.
  const hasCode = (extension) =>
    Boolean(extension.main || extension.browser || extension.contributes?.debuggers) || hasPlugins(extension);
  const isForeign = (extension) => hasCode(extension) && !extension.isBuiltin && !isCompanion(extension);

  /**
   * What goes into compartments: everything foreign; the built-in extensions that the user named, with
   * the built-in ones that they depend on or that depend on them, and TypeScript where a foreign
   * plug-in would run in its servers; and, together in one, the built-in extensions that start programs.
   * @returns {{ inside: Map<string, any>, together: Set<string> }} id → extension; the ids of the last ones
   */
  function confined(all) {
    const known = new Map(all.filter(Boolean).map((one) => [idOf(one), one]));
    const inside = new Map([...known].filter(([, one]) => isForeign(one)));
    const builtin = new Set(settings.builtin.filter((id) => known.get(id)?.isBuiltin));
    if ([...inside.values()].some(hasPlugins) && known.has(TYPESCRIPT)) builtin.add(TYPESCRIPT);
    for (const id of builtin) {
      const one = known.get(id);
      if (isCompanion(one)) continue;
      inside.set(id, one);
      for (const other of dependenciesOf(one)) if (known.get(other)?.isBuiltin) builtin.add(other);
      for (const [other, description] of known)
        if (description.isBuiltin && dependenciesOf(description).includes(id)) builtin.add(other);
    }
    const together = new Set(settings.confined.filter((id) => known.get(id)?.isBuiltin && !builtin.has(id)));
    for (const id of together) inside.set(id, known.get(id));
    return { inside, together };
  }

  /** @param {ReturnType<typeof confined>} all what goes into compartments */
  function groupOf(id, { inside, together }) {
    if (together.has(id)) return together;
    // A dependency on a trusted built-in does not pull the built-in in, nor the extension out: its
    // exports stay unavailable, which review tells. Anybody can declare one; it would bring the rights of the
    // built-in and of all that hangs on it (with Git: the accounts of GitHub) into a stranger's process,
    // and all strangers that declare it together. Who wants that names the built-in in the setting.
    const linked = (one) => {
      const extension = inside.get(one);
      // Nobody waits for what is refused.
      if (isImpostor(extension)) return [];
      const links = dependenciesOf(extension).filter((other) => inside.has(other));
      for (const [other, description] of inside) {
        if (dependenciesOf(description).includes(one)) links.push(other);
        if ((one === TYPESCRIPT && isForeign(description) && hasPlugins(description)) || (other === TYPESCRIPT && isForeign(extension) && hasPlugins(extension))) links.push(other);
      }
      return links.filter((other) => !isImpostor(inside.get(other)) && !together.has(other));
    };
    const group = new Set([id]);
    for (const one of group) for (const other of linked(one)) group.add(other);
    return group;
  }

  /** The affinity of the host that the built-in extensions share; 0 before there is one. */
  let shared = 0;

  /** Its host, by affinity: that of its group, or a new one. */
  function hostOf(extension, all) {
    const id = idOf(extension);
    const before = placed.get(id);
    if (before !== undefined) return before;
    const here = confined([...all, extension]);
    if (!here.inside.has(id)) return 0;
    const group = groupOf(id, here);
    const isTogether = here.together.has(id);
    // A plug-in of TypeScript's that is installed while the window lives does not follow it into the built-ins' host.
    const existing = [...group].map((other) => placed.get(other)).filter((a) => a !== undefined && (isTogether ? a === shared : a !== shared));
    const { foreseen } = globalThis.bulkhead;
    const affinity = existing[0] ?? (group.size === 1 && !isTogether ? foreseen.claim(extension) : undefined) ?? ++last;
    if (isTogether) shared = affinity;
    else if (group.size === 1) foreseen.keep(affinity, extension);
    else foreseen.forget(affinity);
    if (!members.has(affinity)) members.set(affinity, new Set());
    for (const other of existing.length > 0 ? [id] : group) {
      if (placed.has(other)) continue;
      placed.set(other, affinity);
      members.get(affinity).add(other);
    }
    return affinity;
  }

  /**
   * A host runs nobody whose dependency runs elsewhere and has exports: it says that it does not know that one. Such
   * exports stay unavailable, and the extension begins. What is not there at all stays named.
   */
  function unlink(extension, all, affinity) {
    if (!Array.isArray(extension.extensionDependencies)) return;
    const present = new Set(all.filter(Boolean).map(idOf));
    const beside = members.get(affinity);
    extension.extensionDependencies = extension.extensionDependencies.filter((id) => beside.has(id.toLowerCase()) || !present.has(id.toLowerCase()));
  }

  /** What the host's own provider will say, before the workbench knows its extensions. */
  async function foreseenData({ runningLocation }, extension) {
    const { extensionHostLogsPath, globalStorageHome, workspaceStorageHome } = await service._remoteAgentService.getEnvironment();
    const toSnapshot = () => ({ allExtensions: [extension], myExtensions: [extension.identifier] });
    return { extensionHostLogsPath: globalThis.bulkhead.logsOf(extensionHostLogsPath, runningLocation), globalStorageHome, workspaceStorageHome, extensions: { toSnapshot } };
  }

  /**
   * What the workbench's first message to this host will say of what it is for, in that message's shape: the
   * compartment is made of it while the connection for that message comes into being. Empty where it is not known, or
   * too long for a variable: then the compartment waits for the message.
   */
  async function identityOf(host) {
    try {
      const foreseen = globalThis.bulkhead.foreseen.whoWaits(host.runningLocation.affinity);
      const data = foreseen ? await foreseenData(host, foreseen) : await host._initDataProvider.getInitData();
      const { allExtensions, myExtensions } = data.extensions.toSnapshot();
      const own = new Set(myExtensions.map(({ value }) => value.toLowerCase()));
      const text = JSON.stringify({
        remote: { authority: host.remoteAuthority },
        logsLocation: data.extensionHostLogsPath,
        environment: { globalStorageHome: data.globalStorageHome, workspaceStorageHome: data.workspaceStorageHome },
        workspace: host._contextService.getWorkbenchState() === EMPTY_WINDOW ? null : { id: host._contextService.getWorkspace().id },
        extensions: {
          allExtensions: allExtensions.filter((one) => own.has(idOf(one))).map(({ identifier, extensionLocation }) => ({ identifier, extensionLocation })),
          myExtensions,
        },
      });
      return text.length < LONGEST_IDENTITY ? text : "";
    } catch (error) {
      console.error("bulkhead: a compartment starts later than it could:", error);
      return "";
    }
  }

  /** Why an extension has no host. @param {any} manager of its host, if one was asked for */
  function whyMissing(affinity, manager) {
    const error = asked.get(affinity)?.error;
    const because = error ? `: ${error}` : "";
    const end = ends.get(affinity);
    if (manager) return `its compartment was asked for ${Math.round((Date.now() - (asked.get(affinity)?.at ?? 0)) / 1000)} seconds ago and has not answered`;
    if (end?.waits) return `its compartment ended ${end.count === 1 ? "as it started" : `${end.count} times in a row`}, and starts again after a pause${because}`;
    return `no compartment was asked for${because}`;
  }

  /** Extensions do not run in a folder that is not trusted, which VS Code tells a person; not so where trust is switched off. */
  const isUntrustedUnasked = () =>
    service._configurationService?.getValue("security.workspace.trust.enabled") === false && service._workspaceTrustManagementService?.isWorkspaceTrusted() === false;

  /** Installed, enabled and with code for a compartment, but not among the extensions that the window was told of. */
  async function lost() {
    const installed = await service._extensionManagementService.getInstalled(/* of users */ 1);
    const mayRun = (one) => service._safeInvokeIsEnabled(one) || (isUntrustedUnasked() && service._extensionEnablementService.getEnablementState(one) === BY_TRUST);
    return installed.filter((one) => {
      const extension = { ...one.manifest, identifier: { value: one.identifier.id }, extensionLocation: one.location };
      const runs = one.manifest.main || one.manifest.contributes?.debuggers || hasPlugins(one.manifest);
      return runs && one.isValid !== false && !isImpostor(extension) && !service._registry.getExtensionDescription(one.identifier.id) && mayRun(one);
    });
  }

  const managerOf = (affinity) => [...service._extensionHostManagers].find((manager) => affinityOf(manager) === affinity);

  /** Extensions that are to run in a compartment and have none: what the companion tells people of. */
  async function missing() {
    if (!service) return [];
    const found = service._registry.getSnapshot().extensions.flatMap((one) => {
      const affinity = placed.get(idOf(one));
      const manager = affinity === undefined ? undefined : managerOf(affinity);
      // One that has just ended, or pauses for a few seconds, is on its way: its end is told of by itself.
      const isDue = Date.now() - (asked.get(affinity)?.since ?? 0) >= OVERDUE;
      // Of an impostor the companion tells that it is none of those that run.
      if (affinity === undefined || manager?.isReady || !isDue || isImpostor(one)) return [];
      return [{ id: one.identifier.value, name: nameOf(one), why: whyMissing(affinity, manager) }];
    });
    return found.concat((await lost()).map(({ identifier, manifest }) => ({
      id: identifier.id, name: nameOf(manifest), why: isUntrustedUnasked() ? "the window judged whether the folder is trusted before it had your settings" : "the window was not told of it when it was loaded",
    })));
  }

  /** Starts those anew, without waiting for a pause or for a host that has not answered. */
  async function startMissing() {
    if (!service) return;
    if (isUntrustedUnasked()) return void location.reload();
    for (const affinity of members.keys()) {
      const manager = managerOf(affinity);
      if (manager && !manager.isReady && Date.now() - (asked.get(affinity)?.at ?? 0) >= OVERDUE) service._extensionHostManagers.stopOne(manager);
      const end = ends.get(affinity);
      if (end) end.waits = false;
    }
    start();
    const extensions = await lost();
    if (extensions.length > 0) await service._handleDeltaExtensions({ toAdd: extensions, toRemove: [] });
  }

  globalThis.bulkhead = {
    /** The affinity of an extension's host; stable while the window lives. */
    place(extension, all) {
      for (const each of [...all, extension]) unmask(each);
      if (!extension || isCompanion(extension)) return 0;
      const affinity = hostOf(extension, all);
      if (affinity !== 0) unlink(extension, all, affinity);
      return affinity;
    },
    /** Every affinity that a host must exist for. Who starts one starts all that are missing: not those that pause. */
    affinities(asking, startHosts) {
      const { foreseen } = globalThis.bulkhead;
      if (asking && !service) {
        [service, start] = [asking, startHosts];
        // For the companion: those of others would be asked about (api/commands.json).
        const registry = globalThis.bulkhead.commandRegistry;
        registry?.registerCommand("_bulkhead.missing", missing);
        registry?.registerCommand("_bulkhead.startMissing", startMissing);
        if (last === 0) {
          const early = foreseen.begin();
          last = early.length;
          return [0, ...early];
        }
      }
      for (const affinity of foreseen.left()) {
        const manager = managerOf(affinity);
        if (manager) service._extensionHostManagers.stopOne(manager);
      }
      return [0, ...members.keys()].filter((affinity) => !ends.get(affinity)?.waits);
    },
    /** A host's connection failed as it started. @param {unknown} error */
    failed(manager, error) {
      const before = asked.get(affinityOf(manager));
      if (before) before.error = String(/** @type {any} */ (error)?.message ?? error).slice(0, 300);
    },
    /** @param {{ workspaceTrustInitialized: Promise<void> }} trust */
    trustKnown: (trust) => inTime(trust.workspaceTrustInitialized, TRUST_PATIENCE),
    /**
     * The workbench goes on with a change of extensions when every host has answered. A compartment is not waited for when it
     * ends meanwhile, or keeps silent.
     * @param {Promise<void>} answer
     */
    patiently: (manager, answer) => (affinityOf(manager) === 0 ? answer : inTime(answer, PATIENCE)),
    /**
     * Whoever causes an event goes on when every host has begun what that begins. Of the compartments those are waited for
     * that have such an extension: for a command that there is already, one that declares it.
     * @param {string} event
     * @param {Promise<void>} answer
     */
    begun(service, manager, event, answer) {
      if (affinityOf(manager) === 0) return answer;
      const [, command] = /^onCommand:(.*)$/s.exec(event) ?? [];
      const exists = command !== undefined && globalThis.bulkhead.commandRegistry?.getCommand(command) !== undefined;
      const declares = ({ contributes }) => [contributes?.commands ?? []].flat().some((one) => one?.command === command);
      const begins = service._runningLocations
        .filterByExtensionHostManager(service._registry.getAllExtensionDescriptions(), manager)
        .some((one) => service._activationEventReader.readActivationEvents(one).includes(event) && (!exists || declares(one)));
      if (!begins) return inTime(answer, 0);
      if (!waits.has(answer)) waits.set(answer, inTime(answer, late.has(manager) ? PATIENCE : LONG_PATIENCE).then((came) => void (came || late.add(manager))));
      return waits.get(answer);
    },
    /**
     * Extensions were added, removed, enabled or disabled. `service` is the workbench's extension
     * service; `start` starts the hosts that are missing.
     */
    afterChange(service, start) {
      const { extensions } = service._registry.getSnapshot();
      for (const manager of [...service._extensionHostManagers]) {
        const affinity = affinityOf(manager);
        if (affinity === 0 || service._runningLocations.filterByExtensionHostManager(extensions, manager).length > 0) continue;
        for (const id of members.get(affinity) ?? []) placed.delete(id);
        members.delete(affinity);
        ends.delete(affinity);
        globalThis.bulkhead.foreseen.forget(affinity);
        service._extensionHostManagers.stopOne(manager);
      }
      start();
    },
    /**
     * A host has ended. False where it is none of ours, and the workbench does as it always did.
     * `info.code` is 0 where somebody wanted it: then it is back at once. Otherwise after a pause that
     * doubles each time, so that a host that keeps ending costs nothing; a host that lived for ten
     * minutes starts from the shortest.
     */
    afterEnd(manager, info, start) {
      const affinity = affinityOf(manager);
      if (affinity === 0) return false;
      if (!members.has(affinity)) return true;
      const now = Date.now();
      if (manager.isReady) asked.set(affinity, { at: now, since: now, error: "" });
      const before = ends.get(affinity);
      const count = info?.code === 0 ? 0 : before && now - before.at < CALM ? before.count + 1 : 1;
      const end = { at: now, count, waits: count > 0 };
      ends.set(affinity, end);
      setTimeout(() => {
        end.waits = false;
        if (members.has(affinity)) start();
      }, count === 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (count - 1), LONGEST_PAUSE));
      return true;
    },
    /** Browser-only extensions would run beside the workbench, out of every compartment's reach. */
    mayRunInBrowser(extension) {
      unmask(extension);
      return extension.isBuiltin === true;
    },
    unmask,
    isImpostor,
    nameOf,
    missing,
    isShippedFile,
    /**
     * What tells things of one host from those of others where each counts its own and the window has one list.
     * @param {object} proxy through which the workbench speaks to the host
     */
    ofHost(proxy) {
      if (!numbers.has(proxy)) numbers.set(proxy, `-${++proxies}`);
      return numbers.get(proxy);
    },
    /**
     * Runs a command. What changes or copies whatever a person has before them was judged for one document; by now another
     * may have the focus, which whoever runs it can move. Nothing comes between this look and the command.
     * @param {any} commandService
     * @param {string} id
     * @param {unknown[]} args
     * @param {{ path: string } | undefined} judged a document's address; nothing for commands of the window's own host
     */
    execute(commandService, id, args, judged) {
      if (judged === undefined || judged === null) return commandService.executeCommand(id, ...args);
      const { codeEditors } = globalThis.bulkhead;
      const before = [codeEditors.getFocusedCodeEditor(), codeEditors.getActiveCodeEditor()].filter(Boolean);
      // By these words the broker knows that it did not run.
      if (before.length === 0 || !before.every((editor) => !editor.isSimpleWidget && isSame(editor.getModel()?.uri, judged)))
        return Promise.reject(new Error(`bulkhead: ${id} was allowed for ${judged.path}, and another document has the focus`));
      // One of a built-in extension that has not begun is not there yet; it has no words of the host's.
      return globalThis.bulkhead.commandRegistry?.getCommand(id) === undefined ? commandService.executeCommand(id, ...args) : commandService._tryExecuteCommand(id, args);
    },
    /**
     * What a host gives for a configuration's variables. The workbench runs the commands that it names: those that stood there before.
     * @param {unknown} asked
     * @param {unknown} given
     */
    withCommandsOf(asked, given) {
      const before = JSON.stringify(asked) ?? "";
      const text = JSON.stringify(given)?.replace(/\$\{command:(?:[^"\\}]|\\.)*\}?/g, (named) => (before.includes(named) ? named : named.replaceAll("${", "$ {")));
      return text === undefined ? given : JSON.parse(text);
    },
    /**
     * A document of the web, if the window may read it by itself: a file that the editor came with, such as a picture of "Get
     * Started" (which has a query). VS Code reads any, without a question, wherever a list or a row names one.
     * @param {string} address
     */
    shippedAddress(address) {
      const shipped = new URL("..", /** @type {any} */ (globalThis)._VSCODE_FILE_ROOT);
      const { origin, pathname } = new URL(address);
      if (origin !== location.origin || !pathname.startsWith(shipped.pathname)) throw new Error(`bulkhead: ${address} is not opened as a document`);
      return address;
    },
    /** An extension that came with VS Code and is in no compartment. @param {string} id lower case */
    runsOutside: (id) => shippedIds.has(id) && !settings.builtin.includes(id) && !settings.confined.includes(id) && !placed.has(id),
    /** A manager of the workbench's, whose host is not VS Code's own. */
    isCompartment: (manager) => affinityOf(manager) !== 0,
    /**
     * The task service, as it asks for tasks without a person: the broker passes that to compartments that were granted `tasks`.
     * @param {any} service
     */
    tasksUnasked: (service) => new Proxy(service, {
      get: (target, name) => (name === "_providers" ? new Map([...target._providers].map(([handle, provider]) =>
        [handle, provider.bulkheadIsCompartment ? { ...provider, provideTasks: (/** @type {object} */ types) => provider.provideTasks(types, true) } : provider])) : target[name]),
    }),
    /** What the launcher needs to know to start this host: a manager's, as the workbench has it. */
    async environment(host) {
      const { affinity } = host.runningLocation;
      asked.set(affinity, { at: Date.now(), since: asked.get(affinity)?.since ?? Date.now(), error: "" });
      const foreseen = globalThis.bulkhead.foreseen.whoWaits(affinity);
      const ids = foreseen ? [idOf(foreseen)] : [...(members.get(affinity) ?? [])].sort();
      const identity = affinity === 0 ? "" : await Promise.race([identityOf(host), new Promise((resolve) => setTimeout(resolve, IDENTITY_PATIENCE, ""))]);
      return {
        BULKHEAD_HOST: affinity === 0 ? "main" : ids.join(","),
        BULKHEAD_WINDOW: window_,
        BULKHEAD_FOLDER: page.get("folder") ?? "",
        BULKHEAD_WORKSPACE: page.get("workspace") ?? "",
        ...(affinity === 0 ? {} : { BULKHEAD_IDENTITY: identity }),
      };
    },
  };
})();

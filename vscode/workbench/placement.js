// Which extension runs in which host. Loaded before the workbench, in the browser; trusted.
//
// Affinity 0 is VS Code's own host: the built-in extensions that the user left there, and our
// companion. Every other extension gets a host of its own; extensions that depend on one another with
// exports share one, because VS Code hands exports over within a host only.
(() => {
  "use strict";
  /** Settings that the launcher wrote into the page: { builtin: string[], companion: string } */
  const settings = globalThis.bulkheadSettings ?? { builtin: [], companion: "" };
  /** @type {Map<string, number>} extension id → affinity */
  const placed = new Map();
  /** @type {Map<number, Set<string>>} affinity → extension ids */
  const members = new Map();
  let last = 0;

  const idOf = (extension) => extension.identifier.value.toLowerCase();
  const dependenciesOf = (extension) =>
    (extension.extensionDependencies ?? []).map((id) => id.toLowerCase());
  // By the folder that we installed it in, never by its name: anybody can take a name.
  const isCompanion = (extension) =>
    Boolean(settings.companion) && extension.extensionLocation?.path === settings.companion;
  const confined = (extension) =>
    Boolean(extension.main || extension.browser) &&
    !isCompanion(extension) &&
    (!extension.isBuiltin || settings.builtin.includes(idOf(extension)));

  function groupOf(extension, all) {
    const known = new Map(all.filter(Boolean).map((one) => [idOf(one), one]));
    known.set(idOf(extension), extension);
    // A dependency on a trusted built-in does not pull the built-in in, nor the extension out: its
    // exports stay unavailable, which review tells.
    const linked = (id) => {
      const one = known.get(id);
      if (!one || !confined(one)) return [];
      const links = dependenciesOf(one).filter((other) => known.has(other) && confined(known.get(other)));
      for (const [other, description] of known)
        if (confined(description) && dependenciesOf(description).includes(id)) links.push(other);
      return links;
    };
    const group = new Set([idOf(extension)]);
    for (const id of group) for (const other of linked(id)) group.add(other);
    return group;
  }

  globalThis.bulkhead = {
    /** The affinity of an extension's host; stable while the window lives. */
    place(extension, all) {
      if (!extension || !confined(extension)) return 0;
      const id = idOf(extension);
      const before = placed.get(id);
      if (before !== undefined) return before;
      const group = groupOf(extension, all);
      const existing = [...group].map((other) => placed.get(other)).filter((a) => a !== undefined);
      const affinity = existing[0] ?? ++last;
      if (!members.has(affinity)) members.set(affinity, new Set());
      for (const other of existing.length > 0 ? [id] : group) {
        placed.set(other, affinity);
        members.get(affinity).add(other);
      }
      return affinity;
    },
    /** Every affinity that a host must exist for. */
    affinities: () => [0, ...members.keys()],
    /** Browser-only extensions would run beside the workbench, out of every compartment's reach. */
    mayRunInBrowser: (extension) => extension.isBuiltin === true,
    /** What the launcher needs to know to start this host. */
    environment: (affinity) => ({
      BULKHEAD_HOST: affinity === 0 ? "main" : [...members.get(affinity)].sort().join(","),
    }),
  };
})();

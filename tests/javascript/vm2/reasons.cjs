'use strict';
// Which of vm2's tests do not pass, and why. `applies: false`: they ask how vm2 does it, not what comes
// of it; the others ask for what we do differently or have not. `runs: false`: not even tried.
exports.reasons = [
  {
    why: "vm2's own words, where the outcome is the same: it takes Proxy away, rewrites with acorn, refuses a name of its own",
    applies: false,
    tests: [
      'VM › errors', 'VM › various attacks #2', 'VM › internal state attack', 'VM › contextifying a contextified value attack',
      'VM › instanceof attack', 'VM › function returned from construct attack', 'VM › Proxy::getOwnPropertyDescriptor attack', 'VM › Dynamic import attack',
      'VM › Error.prepareStackTrace attack', 'VM › constructor arbitrary code attack',
      'VM › getOwnPropertyDescriptor Function constructor bypass attack', 'VM › getOwnPropertyDescriptor via Object method call bypass attack',
      'VM › Constructor getter TOCTOU attack via Promise (non-configurable)', 'VM › __defineGetter__ / __defineSetter__ attack',
      'regression: import() in source is rewritten to throw', 'regression: bare-identifier access still rejected',
      'rejects VM2_INTERNAL_STATE access', 'instruments with() statements', 'rejects bare "VM2_INTERNAL_STATE',
      'unicode-escape identifier bypass', 'captured a handler (setup sanity)',
    ],
  },
  {
    why: "the guest's own Function, WebAssembly.JSTag and species are the guest's own, and harmless: nothing of them runs in the host",
    applies: false,
    tests: [
      'VM › [Symbol.species] attack', 'VM › WebAssembly.JSTag is not accessible in sandbox', 'neutralizeArraySpecies prevents species attack',
      'Function constructor block remains in force', 'GHSA-grj5-jjm8-h35p (array species self-return escape)',
    ],
  },
  {
    why: "frames of a guest's stack that are the guest's own end of the membrane are called bulkhead:membrane; no path of the host is in them",
    applies: false,
    tests: ['GHSA-v27g-jcqj-v8rw (CallSite path leak via prepareStackTrace)'],
  },
  {
    why: "fixAsync and allowAsync: false are vm2's, which rewrites what it runs",
    applies: false,
    tests: ['VM › async'],
  },
  {
    why: 'a loop in a getter of the host\'s own, which in vm2 runs under the guest\'s limit; here the host runs it, unlimited',
    applies: false, runs: false,
    tests: ['VM › timeout'],
  },
  {
    why: 'a Date is copied, and comes back as another',
    tests: ['contextify › date', 'contextify › common'],
  },
  {
    why: 'a guest has no Buffer of its own that the membrane knows: a Buffer of the host is a Uint8Array there',
    tests: ['contextify › buffer'],
  },
  {
    why: "no class of the host's stands for one of the guest's (vm2 maps EventEmitter so); a nested guest's constructors are its own",
    tests: ['modules › native event emitter', 'nesting › NodeVM'],
  },
];

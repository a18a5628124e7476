'use strict';
// What the other side may do to an object that it reaches by reference. CACHED is READONLY, and the guest
// keeps what it has read.
const { fixed } = require('./primordials.cjs');

const View = fixed({ READONLY: 0, PROTECTED: 1, LIVE: 2, CACHED: 3 });
// How much a view permits.
const reachOf = (view) => (view === View.CACHED ? View.READONLY : view);

module.exports = { View, reachOf };

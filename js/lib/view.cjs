'use strict';
// What the other side may do to an object that it reaches by reference.
module.exports = { View: { __proto__: null, READONLY: 0, PROTECTED: 1, LIVE: 2 } };

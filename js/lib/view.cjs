'use strict';
// What the other side may do to an object that it reaches by reference.
const { fixed } = require('./primordials.cjs');

module.exports = { View: fixed({ READONLY: 0, PROTECTED: 1, LIVE: 2 }) };

// Tests load this file with --require into the process of an arm: it runs the bundled module in place of the compiled one. Hooks
// of `node:module` could do it too, but they start a thread in each process, which takes 0.1 s of CPU.
const Module = require('node:module');
const path = require('node:path');
const { argv } = require('node:process');

const DIST = path.join(module.path, '..', 'dist');
const COMPILED = path.join(DIST, 'runtime/cli/shadow/arm-process.js');
const BUNDLED = path.join(DIST, 'bundle/runtime.cli.shadow.arm-process.js');

const { runMain } = Module;
Module.runMain = (main = argv[1]) => runMain.call(Module, main === COMPILED ? BUNDLED : main);

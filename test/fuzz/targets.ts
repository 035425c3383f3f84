import { bodies } from './bodies.js';
import { expressionTexts } from './expressions.js';
import { feastBytes, feastRegistries } from './feast-bytes.js';
import type { FuzzTarget } from './fuzz-target.js';
import { inputFiles } from './input-files.js';
import { modelFiles } from './model-files.js';
import { projectFiles } from './project-files.js';
import { remoteAnswers } from './remote-answers.js';
import { settingsFiles } from './settings-files.js';
import { storedRecords } from './stored-records.js';

/** All kinds of input from outside. */
export const TARGETS: readonly FuzzTarget[] = [
  projectFiles,
  settingsFiles,
  expressionTexts,
  modelFiles,
  inputFiles,
  bodies,
  storedRecords,
  remoteAnswers,
  feastBytes,
  feastRegistries,
];

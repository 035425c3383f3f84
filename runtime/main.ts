import 'reflect-metadata';
import { serveUntilSignal } from './serve.js';
import { loadSettings } from './settings.js';

await serveUntilSignal(loadSettings(process.env));

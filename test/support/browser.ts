import { chromium, type Browser } from 'playwright-core';
import { findChromium } from './needs.js';

/**
 * Starts Chromium. Call it in a `before` hook of a suite that needs `chromium`.
 * @param args further arguments of Chromium
 */
export async function startBrowser(context: Mocha.Context, args: readonly string[] = []): Promise<Browser> {
  context.timeout(30_000);
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error('there is no Chromium; the suite has to say that it needs one');
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}

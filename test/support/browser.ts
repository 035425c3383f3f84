import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/**
 * Starts Chromium. Skips the suite if it is not installed, and fails instead if CI is set. Call it in a `before` hook.
 * @param args further arguments of Chromium
 */
export async function startBrowser(context: Mocha.Context, args: readonly string[] = []): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    if (process.env.CI) throw new Error(`no browser at ${CHROMIUM}; install chromium or set CHROMIUM`);
    console.log(`      no browser at ${CHROMIUM}: install chromium or set CHROMIUM to run these`);
    context.skip();
  }
  context.timeout(30_000);
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...args] });
}

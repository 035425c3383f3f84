import type { Page } from 'playwright-core';

/** The titles of the cards that a page of the workbench shows, once it shows any; empty if there are none after 30 s. */
export async function cardTitles(page: Page): Promise<readonly string[]> {
  const titles = page.locator('.card h3');
  return titles
    .first()
    .waitFor()
    .then(
      () => titles.allInnerTexts(),
      () => [],
    );
}

/** Types a query into the page, and waits for the cards of its answer. */
export async function typeQuery(page: Page, query: string): Promise<readonly string[]> {
  const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
  const field = page.getByLabel('query');
  await field.fill(query);
  await field.press('Enter');
  await answered;
  // Until then the cards of the last answer stay.
  await page.locator('#answer[aria-busy="false"]').waitFor();
  return cardTitles(page);
}

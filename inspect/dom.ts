type Child = Node | string;

/**
 * Creates an element. Texts become text nodes, so that no value of the service is read as HTML.
 * @param spec the tag, with classes: `td.number`
 */
export function element(spec: string, ...children: readonly Child[]): HTMLElement {
  const [tag = 'span', ...classes] = spec.split('.');
  const made = document.createElement(tag);
  if (classes.length > 0) made.className = classes.join(' ');
  made.append(...children);
  return made;
}

/** An element of the page that exists from the start. */
export function part<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${id}`);
}

export function table(
  head: readonly string[],
  rows: readonly (readonly Child[])[],
  numbers: readonly number[],
): HTMLElement {
  const cell = (tag: string, column: number, child: Child): HTMLElement =>
    element(numbers.includes(column) ? `${tag}.number` : tag, child);
  const made = element(
    'table',
    element('thead', element('tr', ...head.map((text, column) => cell('th', column, text)))),
    element(
      'tbody',
      ...rows.map((row) => element('tr', ...row.map((child, column) => cell('td', column, child)))),
    ),
  );
  const scrolled = element('div.scroll', made);
  // A keyboard scrolls only what has the focus.
  scrolled.tabIndex = 0;
  return scrolled;
}

export function fold(title: string, ...children: readonly Child[]): HTMLElement {
  return element('details', element('summary', title), ...children);
}

/** `userId`, `User-ID` and `user id` become `user_id`. */
export function plainName(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '_')
    .replace(/^_+|_+$/g, '');
}

/** Other words for an id or a number at the end of a name: `article_number`, `search_uuid`, `slot_no`. */
const ENDING = /_(uuid|guid|number|num|no|nr|key|code|ref)$/;

/** How well a path fits names: the place of its name in the list; Infinity if it does not fit. */
function fit(path: string, names: readonly string[]): number {
  const whole = plainName(path);
  const last = plainName(path.slice(path.lastIndexOf('.') + 1));
  const forms = [whole, last, last.replace(ENDING, '_id'), last.replace(ENDING, '')];
  const form = forms.findIndex((name) => names.includes(name));
  const found = forms[form];
  // A path that has the name itself fits better than a path that has it only without its ending.
  return found === undefined ? Infinity : names.indexOf(found) + form / forms.length;
}

const FLAG_START = /^(is|was|has|did)_/;
const FLAG_ENDING = /_(at|time|timestamp|ts|bool|flag|items?|products?|ids|skus|docs|list)$/;

/** The path that fits names of feedback best: `is_bought`, `bought_at` and `bought_items` mean `bought`. */
export function bestFlag(paths: readonly string[], names: readonly string[]): string | undefined {
  const wordsOf = (path: string): readonly string[] => {
    const word = plainName(path.slice(path.lastIndexOf('.') + 1));
    return [word, word.replace(FLAG_START, '').replace(FLAG_ENDING, '')];
  };
  return names
    .map((name) => paths.find((path) => wordsOf(path).includes(name)))
    .find((path) => path !== undefined);
}

/** The path that fits names best. */
export function bestFit(paths: Iterable<string>, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const path of paths) {
    const found = fit(path, names);
    if (found < least) [best, least] = [path, found];
  }
  return best;
}

/**
 * Whether waiting rows fit into the places that are left, so that a bound holds: the conditions that are necessary, each
 * with its slack, which is how many more rows would fit. An order exists only if no slack is negative.
 */

/**
 * By number of rows: how many groups have at least so many. The last entry is 0.
 * @param left by group: its waiting rows
 */
export function countAtLeast(left: Int32Array): Int32Array {
  const largest = left.reduce((most, count) => Math.max(most, count), 0);
  const atLeast = new Int32Array(largest + 2);
  for (const count of left) atLeast[count] = (atLeast[count] ?? 0) + 1;
  for (let count = largest; count >= 0; count--)
    atLeast[count] = (atLeast[count] ?? 0) + (atLeast[count + 1] ?? 0);
  return atLeast;
}

/**
 * In every window: the test of unit jobs with deadlines. From the end, the j-th row of a group has its last possible place
 * a number of places before the end. The j-th and later rows of all groups must come by that place.
 * @param atLeast see `countAtLeast`
 * @param open how many places are left without so many at the end
 * @returns by j, from 1
 */
export function windowSlacks(
  atLeast: Int32Array,
  most: number,
  window: number,
  open: (offset: number) => number,
): Int32Array {
  const slack = new Int32Array(atLeast.length - 1);
  let needed = 0;
  for (let j = slack.length - 1; j > 0; j--) {
    needed += atLeast[j] ?? 0;
    slack[j] = open(Math.floor((j - 1) / most) * window + ((j - 1) % most)) - needed;
  }
  return slack;
}

/**
 * On every page. Groups with c_g waiting rows go to pages with s_p free places, at most k rows of a group to a page. By the
 * theorem of Gale and Ryser (as a minimum cut), that is possible if and only if for each t the t largest groups together
 * have at most Σ_p min(s_p, k·t) rows.
 * @param left by group: its rows
 * @param places by page: its free places
 * @returns by t, from 1; a larger t holds if all rows have a place
 */
export function pageSlacks(left: Int32Array, most: number, places: Int32Array): Int32Array {
  const counts = left.filter((count) => count > 0).sort((a, b) => b - a);
  const largestPage = places.reduce((largest, count) => Math.max(largest, count), 0);
  const slack = new Int32Array(Math.max(0, Math.min(counts.length, Math.ceil(largestPage / most) - 1)) + 1);
  let rows = 0;
  for (let t = 1; t < slack.length; t++) {
    rows += counts[t - 1] ?? 0;
    let room = 0;
    for (const count of places) room += Math.min(count, most * t);
    slack[t] = room - rows;
  }
  return slack;
}

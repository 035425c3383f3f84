/** Who placed a row. Rows that both arms place there give no credit. */
export const Team = { none: 0, control: 1, arm: 2 } as const;
export type Team = (typeof Team)[keyof typeof Team];

/** In place of a Team: the row has no place yet. */
export const WAITS = 255;

export interface Paging {
  readonly userPage: number;
  readonly userPageSize: number;
  readonly candidatePage: number;
  readonly candidatePageSize: number;
}

/** The value s in the definition of `cutPage`; if s + user_page_size ≤ 0, the page lies before these candidates. */
export function pageStart({ userPage, userPageSize, candidatePage, candidatePageSize }: Paging): number {
  return userPage * userPageSize - candidatePage * candidatePageSize;
}

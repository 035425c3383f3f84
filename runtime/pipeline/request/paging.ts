export interface Paging {
  readonly userPage: number;
  readonly userPageSize: number;
  readonly candidatePage: number;
  readonly candidatePageSize: number;
}

/** s of the definition above; s + user_page_size ≤ 0 means that the page lies before these candidates. */
export function pageStart({ userPage, userPageSize, candidatePage, candidatePageSize }: Paging): number {
  return userPage * userPageSize - candidatePage * candidatePageSize;
}

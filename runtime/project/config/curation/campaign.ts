/** A campaign as it is sent and stored. `readCampaign` checks it. */
export interface Campaign {
  readonly from?: string;
  readonly until?: string;
  readonly on?: {
    readonly query?: string | readonly string[];
    readonly category?: string | readonly string[];
    readonly match?: string;
    readonly when?: string;
  };
  /** Ids by position, from 1. */
  readonly pin?: Readonly<Record<string, string>>;
  readonly hide?: string | readonly string[];
  readonly boost?: { readonly where: string; readonly multiply?: number; readonly add?: number };
  readonly bury?: { readonly where: string };
  readonly sponsor?: { readonly places: readonly number[]; readonly product: string; readonly label: string };
  readonly banner?: {
    readonly place: string;
    readonly image?: string;
    readonly link?: string;
    readonly text?: string;
  };
  readonly note?: string;
}

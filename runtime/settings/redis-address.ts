/** Where a node of Redis answers. */
export interface MasterAddress {
  readonly host: string;
  readonly port: number;
}

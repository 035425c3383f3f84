/** The address of a Redis node. */
export interface MasterAddress {
  readonly host: string;
  readonly port: number;
}

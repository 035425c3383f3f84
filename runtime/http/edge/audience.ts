/** Who a listener is for: the clients that rank and write, or the operators of the service. */
export type Audience = 'clients' | 'operators';

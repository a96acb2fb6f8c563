/** Path of the page on which a payer authorizes or declines a subscription request (S-b's `url`), below the base URL. */
export const authorizationPath = (invoiceId: string): string => `/authorize/${encodeURIComponent(invoiceId)}`

/** Path of the page on which a payer gives the one-time code (G1's `confirmation_url`); it ends in the identifier. */
export const confirmationPath = (confirmationId: string): string =>
  `/confirm/${encodeURIComponent(confirmationId)}`

/** Path of the page on which a payer authorises or declines a subscription request (S-b's `url`), below the base URL. */
export const authorisationPath = (invoiceId: string): string => `/authorise/${encodeURIComponent(invoiceId)}`

/** Path of the page on which a payer gives the one-time code (G1's `confirmation_url`); it ends in the identifier. */
export const confirmationPath = (confirmationId: string): string =>
  `/confirm/${encodeURIComponent(confirmationId)}`

/** What a merchant asks for: a subscription (S1, without what is the merchant's own) and a charge. */
export const SUBSCRIPTION = {
  start: '2026-11-28',
  end: '2027-11-28',
  cycle: 'FIFTEEN_DAYS',
  amount: '249.00',
  userReturnURL: 'https://shop.example/return?order=1',
}

export const CHARGE = {
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/return?order=1',
}

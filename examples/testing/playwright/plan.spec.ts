import { expect } from '@playwright/test'
import { SubscriptionsClient } from 'mandatekit'
import { test } from './fixtures.ts'

test("a customer authorizes the plan on the provider's page and returns to the shop", async ({
  page,
  shop,
}) => {
  await shop.open(page)
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await expect(page.getByRole('heading', { name: 'Authorize a subscription' })).toBeVisible()
  await page.getByRole('button', { name: 'Authorize' }).click()
  await expect(page.getByRole('heading', { name: 'Your plan is active' })).toBeVisible()
  expect(page.url()).toContain(`${shop.url}/welcome?invoiceID=`)
  expect(shop.mock.state.subscriptions()).toMatchObject([{ requestStatus: 'SUCCEEDED' }])
})

test('a customer who declines has no plan', async ({ page, shop }) => {
  await shop.open(page)
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await page.getByRole('button', { name: 'Decline' }).click()
  await expect(page.getByRole('heading', { name: 'You have no plan' })).toBeVisible()
  await shop.mock.clock.advance({ days: 3 })
  expect(shop.mock.state.payments()).toEqual([])
})

test('the account page lists each payment once, including a failed one', async ({ page, shop }) => {
  await shop.open(page)
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await expect(page.getByRole('heading', { name: 'Authorize a subscription' })).toBeVisible()
  // The payer's page cannot choose which payments fail, but `mock.payer` can.
  const [request] = shop.mock.state.subscriptions()
  shop.mock.payer.authorize(String(request?.invoiceId), { payments: ['fail', 'succeed'] })
  // The mock delivers every notification twice, and the shop ignores the second delivery.
  await shop.mock.clock.advance({ days: 2 })
  await page.goto(`${shop.url}/account`)
  await expect(page.getByRole('listitem')).toHaveText(['FAILED_PAYMENT', 'SUCCEEDED_PAYMENT'])
})

test('while the merchant is locked out, the shop asks the customer to try again later', async ({
  page,
  shop,
}) => {
  const { credentials, ...options } = shop.mock.clientOptions.subscriptions
  const guesser = new SubscriptionsClient({
    ...options,
    credentials: { ...credentials, password: 'a guess' },
  })
  for (let guess = 0; guess < 5; guess += 1) await guesser.login().catch(() => undefined)
  await shop.open(page)
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await expect(page.getByRole('heading', { name: 'Please try again later' })).toBeVisible()
  await shop.mock.clock.advance({ minutes: 16 })
  await shop.open(page)
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await expect(page.getByRole('heading', { name: 'Authorize a subscription' })).toBeVisible()
})

test('the shop does not request a plan again after a lost response', async ({ page, shop }) => {
  shop.mock.faults.add({ operation: 'subscriptions.subscribe', kind: 'lost-response' })
  await shop.open(page)
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await expect(page.getByRole('heading', { name: 'We are looking into it' })).toBeVisible()
  expect(shop.mock.requests.of('subscriptions.subscribe')).toHaveLength(1)
})

import { expect, type Page } from '@playwright/test'
import { testNumbers } from 'mandatekit/mocks/core'
import { test } from './fixtures.ts'

const pay = async (page: Page, msisdn: string): Promise<void> => {
  await page.getByLabel('Mobile number').fill(msisdn)
  await page.getByRole('button', { name: 'Pay 250' }).click()
}

const enterCode = async (page: Page, code: string): Promise<void> => {
  await page.getByLabel('One-time code').fill(code)
  await page.getByRole('button', { name: 'Confirm' }).click()
}

test('a customer mistypes the code, then pays', async ({ page, shop }) => {
  await shop.open(page)
  await pay(page, testNumbers.succeeds)
  await enterCode(page, '000000')
  await expect(page.getByRole('alert')).toHaveText('The code is not correct.')
  await enterCode(page, '123456')
  await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible()
})

test('a payment from a blocked wallet fails', async ({ page, shop }) => {
  await shop.open(page)
  await pay(page, testNumbers.wallet_blocked)
  await enterCode(page, '123456')
  await expect(page.getByRole('heading', { name: 'Your payment failed' })).toBeVisible()
})

test('a lost response and a 429 cause neither a delay nor a second charge', async ({ page, shop }) => {
  shop.mock.faults.add({ operation: 'gateway.charge', sequence: ['lost-response', 'rate-limit'] })
  await shop.open(page)
  await pay(page, testNumbers.succeeds)
  await enterCode(page, '123456')
  await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible()
  expect(shop.mock.requests.of('gateway.charge')).toHaveLength(3)
  expect(shop.mock.state.charges()).toHaveLength(1)
})

test('two shops that run at the same time share no charges', async ({ browser, shop, otherShop }) => {
  const numbers = [testNumbers.succeeds, testNumbers.wallet_blocked]
  const pages = await Promise.all(
    [shop, otherShop].map(async ({ open }, index) => {
      const page = await browser.newPage()
      await open(page)
      await pay(page, String(numbers[index]))
      await enterCode(page, '123456')
      await page.getByRole('heading', { name: index === 0 ? 'Thank you' : 'Your payment failed' }).waitFor()
      return page
    }),
  )
  expect(shop.mock.state.charges()).toMatchObject([{ status: 'succeeded' }])
  expect(otherShop.mock.state.charges()).toMatchObject([{ status: 'failed' }])
  for (const page of pages) await page.close()
})

import { createMock } from 'mandatekit/mocks'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'

const mock = createMock()
export const server = setupServer(...mock.handlers)
server.use(http.get('https://shop.example/', () => HttpResponse.text('the handlers of both live together')))

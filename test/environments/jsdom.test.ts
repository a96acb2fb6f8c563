// @vitest-environment jsdom

import { describePage } from './page-suite.ts'

describePage('jsdom')

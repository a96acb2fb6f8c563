// @vitest-environment happy-dom

import { describePage } from './page-suite.ts'

describePage('happy-dom')

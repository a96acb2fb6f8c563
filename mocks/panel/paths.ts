/** Where the panel answers. No path of either area, and no hosted page, begins with it. */
export const PANEL_PATH = '/_mock'
/** What the panel shows, as JSON. */
export const STATE_PATH = `${PANEL_PATH}/state`

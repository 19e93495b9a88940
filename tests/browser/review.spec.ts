import { another, draw, objects, openTask, pictures, samples, saved, shown } from './bench'
import { expect, member, signInAsAdmin, test } from './fixtures'

test('a reviewer compares what two people drew, takes of both and accepts', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 2)
  const [anna, ben, eye] = [await member(api, project, 'annotator'), await member(api, project, 'annotator'), await member(api, project, 'reviewer')]
  const task = await openTask(api, project, data, { labellers: [anna.user, ben.user], reviewers: [eye.user] }, { seats: 2 })
  const url = `/p/${project.name}/label-tasks/${task}`

  // Both draw the same cat; anna another one, ben calls it a dog.
  for (const [who, key] of [[anna, '1'], [ben, '2']] as const) {
    const hand = await another(browser, who, `${url}/label`)
    await shown(hand)
    await hand.keyboard.press('1')
    await draw(hand, [0.35, 0.35], [0.45, 0.5])
    await hand.keyboard.press(key)
    await draw(hand, [0.55, 0.55], [0.65, 0.65])
    await expect(saved(hand)).toBeVisible()
    // The layer of one's seat is there again when one comes back, and nothing of the other's.
    await hand.reload()
    await expect(objects(hand)).toHaveCount(2)
    await hand.keyboard.press('s')
    await expect(hand.getByText('1 of 2 done')).toBeVisible()
    await expect(hand.getByRole('heading', { name: '1.png' })).toBeVisible()
    await hand.keyboard.press('1')
    if (who === anna) await draw(hand, [0.35, 0.35], [0.45, 0.5])
    await expect(saved(hand)).toBeVisible()
    await hand.keyboard.press(who === anna ? 's' : 'm')
    await expect(hand.getByRole('heading', { name: 'All done' })).toBeVisible()
    await hand.context().close()
  }

  const judge = await another(browser, eye, `${url}/review`)
  await shown(judge)
  const compared = judge.getByRole('region', { name: 'Compared' })
  await expect(compared.getByText('2 differences')).toBeVisible()
  await expect(compared.getByText('other label')).toHaveCount(2)
  for (const { user } of [anna, ben]) await expect(compared.getByText(user.name, { exact: true })).toBeVisible()
  await expect(objects(judge)).toHaveCount(0)
  // Nothing is accepted by mistake.
  await judge.keyboard.press('y')
  await expect(judge.getByText('Nothing was taken yet')).toBeVisible()

  // Each alone, then all again.
  const eyes = compared.getByRole('button', { name: /^(Show|Hide): / })
  const hidden = () => eyes.evaluateAll((all) => all.map((one) => one.getAttribute('aria-pressed')))
  for (const expected of [['false', 'true'], ['true', 'false'], ['true', 'true'], ['false', 'false']]) {
    await judge.keyboard.press('Shift+H')
    await expect.poll(hidden).toEqual(expected)
  }

  // Everything of one, then the other's version of one thing in its place.
  await judge.keyboard.press(';')
  await judge.keyboard.press('Shift+J')
  await expect(objects(judge)).toHaveCount(2)
  await judge.keyboard.press(';')
  await judge.keyboard.press('Shift+Y')
  await expect(objects(judge)).toHaveCount(2)
  await expect(compared.getByRole('img', { name: 'Taken' })).toHaveCount(1)
  await judge.keyboard.press('y')
  await expect(judge.getByText('1 of 2 done')).toBeVisible()
  const [first] = await samples(api, data.set, data.version)
  expect(first?.state).toBe('accepted')
  expect(first?.annotation.shapes?.map((s) => s.label).sort()).toEqual(['cat', 'dog'])

  // On the next one ben saw nothing. It is rejected for the shape that is picked, and anna is told where.
  await expect(compared.getByText('nobody else')).toBeVisible()
  await judge.keyboard.press(';')
  await judge.keyboard.press('u')
  await expect(judge.getByText('The selected object is named in it.')).toBeVisible()
  await judge.getByRole('textbox', { name: 'Reason' }).fill('no cat')
  await judge.getByRole('button', { name: 'Send' }).click()
  await expect(judge.getByRole('heading', { name: 'All done' })).toBeVisible()
  await judge.context().close()
  const hand = await another(browser, anna, `${url}/label`)
  await expect(hand.getByRole('note')).toContainText('no cat')
  await expect(objects(hand)).toHaveCount(1)
  await hand.context().close()
})

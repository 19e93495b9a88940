import { benchEn } from './bench.en'
import { dataEn } from './data.en'
import { demoEn } from './demo.en'
import { docsEn } from './docs.en'
import { evaluationsEn } from './evaluations.en'
import { homeEn } from './home.en'
import { imagesEn } from './images.en'
import { labellingEn } from './labelling.en'
import { learnEn } from './learn.en'
import { modelsEn } from './models.en'
import { runsEn } from './runs.en'
import { serveEn } from './serve.en'

// The words of the other pages, which come beside their programs.
export const restEn = {
  ...benchEn,
  ...dataEn,
  ...demoEn,
  ...docsEn,
  ...evaluationsEn,
  ...homeEn,
  ...imagesEn,
  ...labellingEn,
  ...learnEn,
  ...modelsEn,
  ...runsEn,
  ...serveEn,
}

import { benchZh } from './bench.zh'
import { dataZh } from './data.zh'
import { demoZh } from './demo.zh'
import { docsZh } from './docs.zh'
import { evaluationsZh } from './evaluations.zh'
import { homeZh } from './home.zh'
import { imagesZh } from './images.zh'
import { labellingZh } from './labelling.zh'
import { learnZh } from './learn.zh'
import { modelsZh } from './models.zh'
import { runsZh } from './runs.zh'
import { serveZh } from './serve.zh'

// The words of the other pages, which come beside their programs.
export const restZh = {
  ...benchZh,
  ...dataZh,
  ...demoZh,
  ...docsZh,
  ...evaluationsZh,
  ...homeZh,
  ...imagesZh,
  ...labellingZh,
  ...learnZh,
  ...modelsZh,
  ...runsZh,
  ...serveZh,
}

// Editors of the forms of compute; loaded with the first such form.
export { EnvChangeEdit, EnvEdit, EnvShow } from './Env'
export { ImageEdit, ImageShow } from './Image'
export { SpecEdit, SpecShow } from './Spec'
export { versionEdit, versionsEdit, VersionsShow } from './Versions'

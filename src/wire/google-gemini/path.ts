/** Returns the path of a model; a name with a slash is a resource of its own, such as "tunedModels/mine". */
export function modelPath(model: string): string {
  const name = model.includes("/") ? model : `models/${model}`;
  return name.split("/").map(encodeURIComponent).join("/");
}

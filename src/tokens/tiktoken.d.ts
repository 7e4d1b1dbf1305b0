declare module "*.tiktoken" {
  const path: string;
  export default path;
}

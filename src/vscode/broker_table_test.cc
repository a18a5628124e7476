// Rows of vscode/api/table.json that nothing else looks at, by what they are about.
#include "vscode/broker_fixture.h"

namespace bulkhead::testing {
namespace {

struct Row {
  const char* actor;
  const char* method;
  size_t argument;
};

class TableTest : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    start(
        {"me.mine"}, nullptr,
        R"("authentication","commands","comments","debug","documents","language-models","languages","notebooks",
             "open-external","scm","secrets","settings-write","storage","terminal","testing",
             "webview","window","workspace-edit","workspace-files")");
  }
  std::string with(const Row& row, const Json& value, std::vector<Json> beside = {}) {
    if (beside.size() <= row.argument) beside.resize(row.argument + 1);
    beside[row.argument] = value;
    return call(row.actor, row.method, beside);
  }
  std::string told(const std::string& method) { return deliver(method, R"(["SECRET"])"); }
  std::string key() const { return (folder_ / "home/.ssh/id_rsa").string(); }
  const Json own_id_ = {{"value", "Me.Mine"}, {"_lower", "me.mine"}};
  const Json others_id_ = {{"value", "cloud.other"}, {"_lower", "cloud.other"}};
};

TEST_F(TableTest, WhatNoExtensionMayCall) {
  for (const auto& [actor, methods] : std::vector<std::pair<const char*, std::vector<const char*>>>{
           {"MainThreadAuthentication", {"$promptForResourceClientSecret", "$showDeviceCodeModal"}},
           {"MainThreadBrowsers",
            {"$closeBrowserTab", "$closeCDPSession", "$openBrowserTab", "$sendCDPMessage",
             "$startCDPSession"}},
           {"MainThreadBrowserTunnelProxy", {"$updateProxyInfo"}},
           {"MainThreadChatAgents2",
            {"$onDidChangePromptFiles", "$registerPromptFileProvider",
             "$transferActiveChatSession"}},
           {"MainThreadChatSessions",
            {"$onDidChangeChatSessionOptions", "$onDidCommitChatSessionItem"}},
           {"MainThreadDownloadService", {"$download"}},
           {"MainThreadEditorInsets", {"$postMessage"}},
           {"MainThreadExtensionService", {"$asBrowserUri"}},
           {"MainThreadManagedSockets",
            {"$onDidManagedSocketClose", "$onDidManagedSocketEnd", "$onDidManagedSocketHaveData",
             "$registerSocketFactory", "$unregisterSocketFactory"}},
           {"MainThreadMcp",
            {"$deleteMcpCollection", "$disposeMcpGateway", "$getTokenForProviderId",
             "$getTokenFromServerMetadata", "$logMcpAuthSetup", "$onDidChangeState",
             "$onDidPublishLog", "$onDidReceiveMessage", "$startMcpGateway",
             "$upsertMcpCollection"}},
           {"MainThreadShare", {"$registerShareProvider"}},
           {"MainThreadTunnelService", {"$setTunnelProvider"}},
           {"MainThreadWorkspace", {"$lookupAuthorization", "$lookupKerberosAuthorization"}}})
    for (const char* method : methods)
      EXPECT_THAT(call(actor, method, {}), HasSubstr("no extension in a compartment")) << method;
}

TEST_F(TableTest, WhoItSpeaksForIsItsOwn) {
  const Json log = uri((folder_ / "logs/x.log").string());
  for (const Row& row :
       std::vector<Row>{{"MainThreadAuthentication", "$getSession", 2},
                        {"MainThreadChatAgents2", "$registerChatSessionCustomizationProvider", 3},
                        {"MainThreadChatOutputRenderer", "$registerChatOutputRenderer", 1},
                        {"MainThreadComments", "$registerCommentController", 3},
                        {"MainThreadCustomEditors", "$registerCustomEditorProvider", 0},
                        {"MainThreadCustomEditors", "$registerTextEditorProvider", 0},
                        {"MainThreadDebugService", "$registerDebugVisualizer", 0},
                        {"MainThreadExtensionService", "$activateExtension", 0},
                        {"MainThreadExtensionService", "$onDidActivateExtension", 0},
                        {"MainThreadExtensionService", "$onExtensionActivationError", 0},
                        {"MainThreadExtensionService", "$onExtensionRuntimeError", 0},
                        {"MainThreadExtensionService", "$onWillActivateExtension", 0},
                        {"MainThreadFileSystemEventService", "$watch", 0},
                        {"MainThreadLanguageFeatures", "$registerCodeActionSupport", 4},
                        {"MainThreadLanguageFeatures", "$registerCompletionsProvider", 4},
                        {"MainThreadLanguageFeatures", "$registerDocumentFormattingSupport", 2},
                        {"MainThreadLanguageFeatures", "$registerFoldingRangeProvider", 2},
                        {"MainThreadLanguageFeatures", "$registerInlineCompletionsSupport", 3},
                        {"MainThreadLanguageFeatures", "$registerOnTypeFormattingSupport", 3},
                        {"MainThreadLanguageFeatures", "$registerRangeFormattingSupport", 2},
                        {"MainThreadOutputService", "$register", 3},
                        {"MainThreadSecretState", "$deletePassword", 0},
                        {"MainThreadSecretState", "$getKeys", 0},
                        {"MainThreadSecretState", "$setPassword", 0},
                        {"MainThreadStorage", "$initializeExtensionStorage", 1},
                        {"MainThreadStorage", "$registerExtensionStorageKeysToSync", 0},
                        {"MainThreadTerminalService", "$registerCompletionProvider", 1},
                        {"MainThreadTerminalService", "$registerProfileProvider", 1},
                        {"MainThreadTerminalService", "$registerQuickFixProvider", 1},
                        {"MainThreadUrls", "$registerUriHandler", 1},
                        {"MainThreadWebviewPanels", "$createWebviewPanel", 0},
                        {"MainThreadWebviewViews", "$registerWebviewViewProvider", 0}}) {
    std::vector<Json> beside = {"mine.chat", "mine.chat", "mine.chat"};
    if (std::string(row.method) == "$register") beside[1] = log;
    if (std::string(row.method) == "$registerCommentController") beside[0] = 1;
    EXPECT_THAT(with(row, others_id_, beside), HasSubstr("speaks for an extension")) << row.method;
    EXPECT_THAT(with(row, own_id_, beside), Not(HasSubstr("speaks for"))) << row.method;
  }
}

TEST_F(TableTest, FilesThatItNamesAreDecided) {
  deliver("$acceptDocumentsAndEditorsDelta",
          Json::array({Json{{"addedEditors",
                             {{{"id", "1"}, {"documentUri", uri(work("a.txt"))}},
                              {{"id", "2"}, {"documentUri", uri(key())}}}}}})
              .dump());
  for (const Row& row :
       std::vector<Row>{{"MainThreadAgentEditorComments", "$createAgentEditorComments", 1},
                        {"MainThreadCustomEditors", "$onContentChange", 0},
                        {"MainThreadCustomEditors", "$onDidEdit", 0},
                        {"MainThreadDocuments", "$tryOpenDocument", 0},
                        {"MainThreadDocuments", "$trySaveDocument", 0},
                        {"MainThreadDocumentContentProviders", "$onVirtualDocumentChange", 0},
                        {"MainThreadDocumentDiff", "$computeDocumentDiff", 0},
                        {"MainThreadDocumentDiff", "$computeDocumentDiff", 1},
                        {"MainThreadFileSystem", "$copy", 0},
                        {"MainThreadFileSystem", "$copy", 1},
                        {"MainThreadFileSystem", "$readdir", 0},
                        {"MainThreadFileSystemEventService", "$watch", 2},
                        {"MainThreadLanguages", "$changeLanguage", 0},
                        {"MainThreadLanguages", "$tokensAtPosition", 0},
                        {"MainThreadLocalization", "$fetchBundleContents", 0},
                        {"MainThreadNotebookDocuments", "$tryOpenNotebook", 0},
                        {"MainThreadNotebookDocuments", "$trySaveNotebook", 0},
                        {"MainThreadNotebookEditors", "$tryShowNotebookDocument", 0},
                        {"MainThreadNotebookKernels", "$createExecution", 2},
                        {"MainThreadNotebookKernels", "$createNotebookExecution", 2},
                        {"MainThreadQuickDiff", "$createSourceControlDiffInformation", 1},
                        {"MainThreadTextEditors", "$tryShowTextDocument", 0},
                        {"MainThreadWorkspace", "$resolveDecoding", 0},
                        {"MainThreadWorkspace", "$resolveEncoding", 0},
                        {"MainThreadWorkspace", "$save", 0},
                        {"MainThreadWorkspace", "$validateDetectedEncoding", 0}}) {
    const Json own = uri(work("a.txt"));
    std::vector<Json> beside(3, own);
    if (std::string(row.method) == "$watch") beside[0] = own_id_;
    if (std::string(row.actor) == "MainThreadCustomEditors") beside[1] = "mine.view";
    if (std::string(row.method) == "$tryShowNotebookDocument") beside[1] = "mine";
    EXPECT_EQ(with(row, own, beside), "passed") << row.method;
    EXPECT_NE(with(row, uri(key()), beside), "passed") << row.method << row.argument;
  }
  EXPECT_EQ(call("MainThreadFileSystem", "$stat", {uri(work("a.txt"))}), "passed");
  EXPECT_NE(call("MainThreadFileSystem", "$stat", {uri("/x", "cloud")}), "passed");
  for (const char* method :
       {"$getDiffInformation", "$tryHideEditor", "$tryInsertSnippet", "$tryRevealRange",
        "$trySetDecorationsFast", "$trySetOptions", "$trySetSelections", "$tryShowEditor"}) {
    EXPECT_EQ(call("MainThreadTextEditors", method, {"1"}), "passed") << method;
    EXPECT_NE(call("MainThreadTextEditors", method, {"2"}), "passed") << method;
  }
  for (const char* method : {"$tryRevealRange", "$trySetSelections"}) {
    EXPECT_EQ(call("MainThreadNotebookEditors", method, {"1"}), "passed") << method;
    EXPECT_NE(call("MainThreadNotebookEditors", method, {"2"}), "passed") << method;
  }
  EXPECT_NE(call("MainThreadOutputService", "$register", {"x", uri(work("a.txt")), "", own_id_}),
            "passed");
  fs::create_directories(folder_ / "work/tree");
  fs::create_symlink("/etc", folder_ / "work/tree/link");
  EXPECT_THAT(
      call("MainThreadFileSystem", "$copy", {uri(work("tree")), uri(work("new")), Json::object()}),
      HasSubstr("symbolic link"));
}

TEST_F(TableTest, PartsThatItNamesAreItsOwn) {
  for (const Row& row :
       std::vector<Row>{{"MainThreadTreeViews", "$disposeTree", 0},
                        {"MainThreadTreeViews", "$refresh", 0},
                        {"MainThreadTreeViews", "$resolveDropFileData", 0},
                        {"MainThreadTreeViews", "$reveal", 0},
                        {"MainThreadTreeViews", "$setBadge", 0},
                        {"MainThreadTreeViews", "$setMessage", 0},
                        {"MainThreadTreeViews", "$setTitle", 0},
                        {"MainThreadWebviewViews", "$registerWebviewViewProvider", 1},
                        {"MainThreadCustomEditors", "$onContentChange", 1},
                        {"MainThreadCustomEditors", "$registerCustomEditorProvider", 1},
                        {"MainThreadCustomEditors", "$registerTextEditorProvider", 1}}) {
    const bool changes = std::string(row.method) == "$onContentChange";
    const std::vector<Json> beside = {changes ? uri(work("a.txt")) : own_id_};
    EXPECT_EQ(with(row, "mine.view", beside), "passed") << row.method;
    EXPECT_THAT(with(row, "cloud.editor", beside), HasSubstr("not its own")) << row.method;
  }
  for (const Row& row :
       std::vector<Row>{{"MainThreadChatAgents2", "$registerAgentCompletionsProvider", 1},
                        {"MainThreadChatAgents2", "$registerChatSessionCustomizationProvider", 1},
                        {"MainThreadChatOutputRenderer", "$registerChatOutputRenderer", 0},
                        {"MainThreadChatSessions", "$registerChatSessionContentProvider", 1},
                        {"MainThreadChatSessions", "$registerChatSessionItemController", 1},
                        {"MainThreadWebviewPanels", "$createWebviewPanel", 2}}) {
    std::vector<Json> beside(4, own_id_);
    EXPECT_EQ(with(row, "mine.chat", beside), "passed") << row.method;
    EXPECT_THAT(with(row, "cloud.chat", beside), HasSubstr("another extension declares"))
        << row.method;
  }
  for (const char* method : {"$updateController", "$updateTestRunConfig"})
    EXPECT_THAT(call("MainThreadTesting", method, {"cloud"}), HasSubstr("not its own")) << method;
  EXPECT_THAT(call("MainThreadTerminalService", "$sendProcessProperty", {7}),
              HasSubstr("not its own"));
  EXPECT_THAT(call("MainThreadConfiguration", "$removeConfigurationOption", {1, "cloud.token"}),
              HasSubstr("settings-write-foreign"));
}

TEST_F(TableTest, WhatNoHostIsToldOrAsked) {
  for (const char* method : {"$acceptDiff",
                             "$onCDPSessionMessage",
                             "$onCoreDebugEvent",
                             "$onDidChangeActiveBrowserTab",
                             "$onDidChangeBrowserTabState",
                             "$onDidChangeGatewayServers",
                             "$onDidOpenBrowserTab",
                             "$onDidReceiveData",
                             "$onCDPSessionClosed",
                             "$onDidCloseBrowserTab",
                             "$stopMcp",
                             "$setEnabled",
                             "$remoteSocketDrain",
                             "$remoteSocketEnd",
                             "$publishTestResults",
                             "$sendMessage",
                             "$setRemoteEnvironment",
                             "$closeTunnel",
                             "$extensionTestsExecute",
                             "$findExecutable",
                             "$forwardPort",
                             "$getCanonicalURI",
                             "$openRemoteSocket",
                             "$providePromptFiles",
                             "$provideShare",
                             "$registerXaaAuthProvider",
                             "$remoteSocketWrite",
                             "$resolveAuthority",
                             "$resolveMcpLaunch"})
    EXPECT_EQ(told(method), "") << method;
  for (const char* method : {"$diffBetweenWithStats", "$diffBetweenWithStats2", "$getRefs",
                             "$getRepositoryState", "$openRepository"})
    EXPECT_EQ(told(method), "") << "Git is asked: " << method;
  for (const char* method :
       {"$acceptProcessRequestCwd", "$acceptProcessRequestInitialCwd", "$acceptProcessShutdown",
        "$acceptTerminalProcessData", "$acceptDidExecuteCommand"})
    EXPECT_EQ(told(method), "") << "of another's terminal: " << method;
  EXPECT_EQ(told("$acceptEditorDiffInformation"), "");
}

TEST_F(TableTest, WhatNeedsAPermissionIsNotToldWithoutIt) {
  start();
  for (const auto& [permission, methods] :
       std::vector<std::pair<const char*, std::vector<const char*>>>{
           {"authentication",
            {"$onDidChangeAuthenticationSessions", "$onDidUnregisterAuthenticationProvider"}},
           {"debug",
            {"$acceptDebugSessionNameChanged", "$acceptDebugSessionTerminated",
             "$acceptStackFrameFocus"}},
           {"language-models",
            {"$acceptActiveChatSession", "$acceptAgentEditorComments", "$revealAgentEditorComment",
             "$acceptEmbeddingModels", "$executeChatContextItemCommand", "$onChatModelsChange",
             "$onDidChangeCustomAgents", "$onDidChangeHooks", "$onDidChangeInstructions",
             "$onDidChangePlugins", "$onDidChangeSkills", "$onDidChangeSlashCommands",
             "$onDidChangeTools"}},
           {"tasks",
            {"$onDidEndTaskProblemMatchers", "$onDidEndTaskProcess",
             "$onDidStartTaskProblemMatchers", "$onDidStartTaskProcess"}},
           {"terminal-read", {"$provideTerminalCompletions", "$provideTerminalQuickFixes"}}}) {
    for (const char* method : methods) EXPECT_EQ(told(method), "") << method;
    start({"me.mine"}, nullptr, '"' + std::string(permission) + '"');
    for (const char* method : methods) EXPECT_THAT(told(method), HasSubstr("SECRET")) << method;
    start();
  }
}

// What is heard is typed in the terminal that a person dictates in, ends of lines included.
TEST_F(TableTest, WhoHearsForAPersonMayTypeInTerminals) {
  const auto hears = [this] {
    return call("MainThreadSpeech", "$registerProvider", {1, "x", {{"extension", own_id_}}});
  };
  start({"me.mine"}, nullptr, R"("language-models")");
  EXPECT_THAT(hears(), HasSubstr("\"terminal\""));
  start({"me.mine"}, nullptr, R"("terminal")");
  EXPECT_EQ(hears(), "passed");
}

// The workbench evaluates what these answer, in the program that a person debugs.
TEST_F(TableTest, WhatIsEvaluatedInADebuggedProgramNeedsDebugging) {
  for (const char* method :
       {"$registerEvaluatableExpressionProvider", "$registerInlineValuesProvider"}) {
    start({"me.mine"}, nullptr, R"("@editor")");
    EXPECT_EQ(call("MainThreadLanguageFeatures", method, {1, Json::array()}), "quiet") << method;
    start({"me.mine"}, nullptr, R"("debug")");
    EXPECT_EQ(call("MainThreadLanguageFeatures", method, {1, Json::array()}), "passed") << method;
  }
}

}  // namespace
}  // namespace bulkhead::testing
